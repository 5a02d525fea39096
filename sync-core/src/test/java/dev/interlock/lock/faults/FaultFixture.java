package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.MovableTicker;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.RespError;
import dev.interlock.testing.Timely;
import dev.interlock.testing.TooLate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.ReadMode;
import org.redisson.config.SingleServerConfig;
import org.redisson.config.SubscriptionMode;

/**
 * A Redis, a faulty network before it, and sessions, clients and threads that end with the test. Every test ends with
 * two questions: with all threads gone but the sessions still open, so that they would go on renewing what has leaked,
 * and again with the sessions closed, is anything left in Redis but marks and tokens that expire by themselves? A test
 * that has failed is asked only the second one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
// In a thread of its own, since an interrupt wouldn't end a lock() that hangs.
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
public abstract class FaultFixture {
    /** How long sessions and clients wait for an answer, unless a test waits for that to end. */
    protected static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(3);

    /** The time-out of sessions and clients whose tests wait for it to end, each for a reason that it gives. */
    protected static final Duration SHORT_TIMEOUT = Duration.ofSeconds(1);

    /** How often a session looks after what it waits for. */
    protected static final Duration PULSE = Duration.ofSeconds(1);

    private static final int MAX_OPENINGS = 5;

    /** Only ends a hang: what has to happen at all has happened by then, however busy the machine is. */
    protected static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * What a busy machine may add to a bound that a test asserts: little enough for what the bound excludes, such as
     * the end of a lease or of {@code redisTimeout}, 30 s both.
     */
    protected static final Duration SLACK = Duration.ofSeconds(4);

    /**
     * How long a waiter may need that no message reaches. Without the pulse it would wait for the end of a lease or for
     * ever; how soon the pulse comes is a question of many waits, see {@link #assertPulses}.
     */
    protected static final Duration PROMPTLY = PULSE.plus(SLACK);

    /**
     * How long a session with {@link #SHORT_TIMEOUT} may need to repeat what was lost on a connection that is silent
     * since. That lasts for 10 s: repeated commands must not get stuck there, too.
     */
    protected static final Duration REPEATED = SHORT_TIMEOUT.multipliedBy(4).plus(SLACK);

    private final Deque<Runnable> opened = new ArrayDeque<>();
    private final List<Interlock> sessions = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();
    private final List<DistributedReentrantLock> locks = new ArrayList<>();
    private RedisServer server;
    private FaultProxy proxy;
    private long droppedBefore;

    /** Whether the test has failed halfway, so that what it hadn't come to release yet is no leak. */
    private boolean isAborted;

    @RegisterExtension
    final AfterTestExecutionCallback outcome =
            test -> isAborted = test.getExecutionException().isPresent();

    /** Arguments of the server. */
    protected List<String> serverArguments() {
        return List.of();
    }

    /** Starts what there is beside the server. */
    protected void launchOthers() {}

    @BeforeAll
    void launch() {
        server = RedisServer.launch(serverArguments().toArray(String[]::new));
        proxy = FaultProxy.to(server);
        launchOthers();
        loadScripts();
        closeAll();
    }

    @AfterAll
    protected void shutDown() {
        proxy.close();
        server.close();
    }

    // A script that the server doesn't know yet costs a refusal, which would be taken for the request that a test
    // means.
    protected final void loadScripts() {
        Recorder recorder = new Recorder();
        MovableTicker ticker = new MovableTicker();
        Interlock warm = open(
                server.url(),
                builder ->
                        builder.lease(Duration.ofSeconds(3)).listener(recorder).ticker(ticker));
        DistributedReentrantLock lock = warm.lock("warm");
        lock.lock();
        ticker.advance(Duration.ofMillis(1_100));
        await("renewal").until(() -> recorder.count(Recorder.Kind.RENEWED) > 0);
        lock.unlock();
    }

    @BeforeEach
    void flush() {
        server.command("FLUSHALL");
        droppedBefore = proxy.dropped();
    }

    @AfterEach
    void leaveNothing() {
        List<Throwable> failures = new ArrayList<>();
        attempt(failures, proxy::heal);
        actors.forEach(actor -> attempt(failures, actor::close));
        actors.clear();
        if (!isAborted) {
            locks.forEach(lock -> attempt(failures, () -> assertUnused(lock)));
            attempt(failures, this::awaitNothingLeft);
        }
        locks.clear();
        attempt(failures, this::closeAll);
        // The next test clears Redis: a request that came after that would find nothing that refuses it.
        attempt(failures, () -> await("late requests").until(() -> !proxy.holdsRequests()));
        attempt(failures, this::awaitNothingLeft);
        if (!failures.isEmpty()) {
            AssertionError error = new AssertionError("The test leaves something behind", failures.remove(0));
            failures.forEach(error::addSuppressed);
            throw error;
        }
    }

    private void closeAll() {
        sessions.forEach(Interlock::close);
        sessions.clear();
        opened.forEach(Runnable::run);
        opened.clear();
    }

    private static void attempt(List<Throwable> failures, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            failures.add(e);
        }
    }

    private static void assertUnused(DistributedReentrantLock lock) {
        assertThat(lock.isLocked()).as("%s is locked", lock).isFalse();
        assertThat(lock.hasQueuedThreads()).as("%s has queued threads", lock).isFalse();
    }

    protected final void awaitNothingLeft() {
        await("nothing left in Redis")
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> assertThat(leftovers()).isEmpty());
    }

    /** A regular expression for what is found in the names of keys that stay for a while. */
    protected String lasting() {
        return "mark|token|turns|signals";
    }

    /** What there is in Redis, apart from what is meant to stay for a while. */
    private Map<String, String> leftovers() {
        Pattern stays = Pattern.compile(lasting());
        Map<String, String> left = new TreeMap<>();
        server.ttlMillis().forEach((key, millis) -> {
            boolean isKept = key.startsWith("interlock:") && stays.matcher(key).find();
            if (!isKept || millis == -1) {
                left.put(key, millis + " ms");
            }
        });
        return left;
    }

    protected final boolean isAborted() {
        return isAborted;
    }

    protected final RedisServer server() {
        return server;
    }

    protected final FaultProxy proxy() {
        return proxy;
    }

    /** How many answers were lost in this test so far; the proxy itself counts over all tests of a class. */
    protected final long dropped() {
        return proxy.dropped() - droppedBefore;
    }

    /** How long sessions and clients wait for an answer. */
    protected Duration commandTimeout() {
        return COMMAND_TIMEOUT;
    }

    /** A session through the proxy, with default settings but for the {@link #commandTimeout}. */
    protected final Interlock session() {
        return session(builder -> builder);
    }

    /** A session through the proxy. */
    protected final Interlock session(UnaryOperator<InterlockBuilder> settings) {
        return open(proxy.url(), settings);
    }

    /** A session through the proxy whose commands time out soon, for tests that wait for that. */
    protected final Interlock impatient() {
        return impatient(builder -> builder);
    }

    protected final Interlock impatient(UnaryOperator<InterlockBuilder> settings) {
        return over(impatientClient(), builder -> settings.apply(builder.commandTimeout(SHORT_TIMEOUT)));
    }

    /** The client of such a session. */
    protected final RedissonClient impatientClient() {
        return client(proxy.url(), SHORT_TIMEOUT);
    }

    /** A session that no fault of the network concerns. */
    protected final Interlock undisturbed() {
        Config config = smallConfig();
        small(config.useSingleServer(), server.url());
        return over(shuttingDown(Redisson.create(config)), builder -> builder.commandTimeout(COMMAND_TIMEOUT));
    }

    private Interlock open(String url, UnaryOperator<InterlockBuilder> settings) {
        return over(client(url), settings);
    }

    /** A session over a client. On a busy machine, opening may take longer than the wait for a command. */
    protected final Interlock over(RedissonClient client, UnaryOperator<InterlockBuilder> settings) {
        InterlockBuilder builder = settings.apply(Interlock.builder().commandTimeout(commandTimeout()))
                .client(client);
        for (int attempt = 1; ; attempt++) {
            try {
                return closing(builder.open());
            } catch (RedisUnavailableException e) {
                if (attempt == MAX_OPENINGS) {
                    throw e;
                }
            }
        }
    }

    /** Registers a session to be closed after the test. */
    protected final Interlock closing(Interlock session) {
        sessions.add(session);
        return session;
    }

    /** A small client, to be shut down after the test. */
    protected final RedissonClient client(String url) {
        return client(url, commandTimeout());
    }

    protected RedissonClient client(String url, Duration timeout) {
        Config config = smallConfig();
        small(config.useSingleServer(), url).setTimeout((int) timeout.toMillis());
        return shuttingDown(Redisson.create(config));
    }

    protected static Config smallConfig() {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.setThreads(2);
        config.setNettyThreads(2);
        return config;
    }

    // With a pool of less than 10, Redisson would send everything over the same connection, answered or not.
    protected static SingleServerConfig small(SingleServerConfig server, String url) {
        return server.setAddress(url)
                .setTimeout((int) COMMAND_TIMEOUT.toMillis())
                .setConnectTimeout(1_000)
                .setRetryDelay(new ConstantDelay(Duration.ofMillis(100)))
                .setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(12)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(4);
    }

    protected final RedissonClient shuttingDown(RedissonClient client) {
        opened.push(() -> client.shutdown(0, 2, TimeUnit.SECONDS));
        return client;
    }

    /** A lock that has to be free at the end of the test. */
    protected final DistributedReentrantLock lock(Interlock session, String name) {
        return free(session.lock(name));
    }

    /** The same for any lock. */
    protected final DistributedReentrantLock free(DistributedReentrantLock lock) {
        locks.add(lock);
        return lock;
    }

    protected final Actor actor(String name) {
        Actor actor = new Actor(name);
        actors.add(actor);
        return actor;
    }

    protected static ConditionFactory await(String what) {
        return Awaitility.await(what).atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(2));
    }

    /** Asserts that most of these waits, which no message ended, were ended by the next pulse. */
    protected static void assertPulses(List<Duration> waits) {
        List<Duration> sorted = waits.stream().sorted().toList();
        TooLate.assertWithin("the median wait", PULSE.multipliedBy(2), sorted.get(sorted.size() / 2));
    }

    protected static ConditionFactory awaitPromptly(String what) {
        return await(what).atMost(PROMPTLY);
    }

    /** The owner of a key, with the count that Redisson's protocol keeps; empty if nobody owns it. */
    protected final String holder(String key) {
        return server.command("HGETALL", key) instanceof List<?> fields
                ? fields.stream().map(String::valueOf).collect(Collectors.joining("="))
                : "";
    }

    protected final void awaitFree(String key) {
        await(key + " free").until(() -> holder(key).isEmpty());
    }

    protected final long pttl(String key) {
        return Long.parseLong(String.valueOf(server.command("PTTL", key)));
    }

    protected final int tickets(String key) {
        return Integer.parseInt(String.valueOf(server.command("ZCARD", "interlock:{" + key + "}:queue")));
    }

    protected final void awaitTickets(String key, int count) {
        await(count + " tickets").until(() -> tickets(key) == count);
    }

    /** Where Redis keeps who waits for what the test is about. */
    protected String queueKey() {
        throw new UnsupportedOperationException("nobody queues");
    }

    protected final int waiting() {
        return Integer.parseInt(String.valueOf(server.command("ZCARD", queueKey())));
    }

    protected final void awaitWaiting(int sessions) {
        await(sessions + " sessions wait").until(() -> waiting() == sessions);
    }

    /** Has a thread begin what has to wait, and returns once Redis knows so many sessions that do. */
    protected final CompletableFuture<Boolean> queue(Actor waiter, Actor.Action entry, int sessions) {
        CompletableFuture<Boolean> entered = waiter.begin(entry);
        awaitWaiting(sessions);
        return entered;
    }

    /** Has a thread want a lock that another session has, and returns once Redis knows one that waits. */
    protected final CompletableFuture<Boolean> queue(Actor waiter, DistributedReentrantLock wanted) {
        CompletableFuture<Boolean> entered = waiter.begin(wanted::lock);
        awaitTickets(wanted.getName(), 1);
        return entered;
    }

    protected static void awaitQueued(DistributedReentrantLock lock, Actor... waiters) {
        await("queued locally").until(() -> List.of(waiters).stream().allMatch(w -> lock.hasQueuedThread(w.thread())));
    }

    /** Closes the connections on which sessions hear messages. */
    protected final void killMailboxes() {
        try {
            server.command("CLIENT", "KILL", "TYPE", "pubsub");
        } catch (RespError e) {
            // Nobody is subscribed: killed before, and not back yet.
            assertThat(e.getMessage()).contains("No such client");
        }
    }

    /** Has Redis keep a copy of its data as they are now. */
    protected final void saveCopy() {
        server.command("SAVE");
    }

    /** Redis crashes, and comes back with the copy that it has kept. The next time it comes back with nothing again. */
    protected final void goBack() {
        server.restart();
        try {
            Files.delete(server.folder().resolve("dump.rdb"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Awaits that a session hears messages. */
    protected final void awaitMailbox(Interlock session) {
        String channel = "interlock:mailbox:" + session.id();
        await("mailbox")
                .until(() -> String.valueOf(server().command("PUBSUB", "NUMSUB", channel))
                        .endsWith(", 1]"));
    }

    /** Launches a server that copies {@link #server}, and returns once it does. */
    protected final RedisServer launchReplica() {
        RedisServer replica = RedisServer.launch("--replicaof", server().host(), Integer.toString(server().port()));
        await("replication")
                .until(() ->
                        String.valueOf(replica.command("INFO", "replication")).contains("master_link_status:up"));
        assertThat(String.valueOf(server().command("INFO", "replication"))).contains("connected_slaves:1");
        return replica;
    }

    /** A client of a master at that address and its replica. */
    protected final RedissonClient replicatedClient(String url, RedisServer replica, Duration timeout) {
        Config config = smallConfig();
        config.useMasterSlaveServers()
                .setMasterAddress(url)
                .addSlaveAddress(replica.url())
                .setReadMode(ReadMode.MASTER)
                .setSubscriptionMode(SubscriptionMode.MASTER)
                .setTimeout((int) timeout.toMillis())
                .setConnectTimeout(1_000)
                .setRetryDelay(new ConstantDelay(Duration.ofMillis(100)))
                .setMasterConnectionMinimumIdleSize(2)
                .setMasterConnectionPoolSize(12)
                .setSlaveConnectionMinimumIdleSize(1)
                .setSlaveConnectionPoolSize(2)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(4);
        return shuttingDown(Redisson.create(config));
    }
}
