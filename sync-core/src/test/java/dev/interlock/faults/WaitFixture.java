package dev.interlock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.QuorumInterlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.faults.Calls.Call;
import dev.interlock.faults.Waits.Side;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Threads of one session that wait in each way for what another session has, on three servers for a quorum. Something
 * happens to the first session; what the other one has, it has for as long as it wants.
 */
@SuppressWarnings("NullAway.Init") // before each test
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class WaitFixture extends FaultFixture {
    /** Only ends a hang, as do leases and silence before it. */
    static final Duration BOUND = Duration.ofSeconds(60);

    /** So long that nobody takes a refusal or a busy machine for silence. */
    static final Duration SILENCE = Duration.ofSeconds(8);

    private final List<RedissonClient> mine = new ArrayList<>();
    private List<RedisServer> servers = List.of();
    private List<FaultProxy> proxies = List.of();
    private Side side;
    private Side others;
    private Waits waits;

    /** Threads that have yet to give what was waited for. */
    private final List<Begun> giving = new ArrayList<>();

    /** A thread that waits or calls, and when that ended. */
    record Begun(String what, Actor thread, CompletableFuture<Boolean> end, AtomicLong endNanos) {
        boolean hasEnded() {
            return end.isDone();
        }

        @Nullable
        Throwable failure() {
            Throwable failure = end.handle((done, thrown) -> thrown).join();
            return failure instanceof ExecutionException ? failure.getCause() : failure;
        }

        @Override
        public String toString() {
            return what;
        }
    }

    /** How long leases are. */
    Duration lease() {
        return Duration.ofSeconds(30);
    }

    /** How long the first session waits for an answer, and for Redis to be there again. */
    Duration redisTimeout() {
        return Duration.ofMinutes(10);
    }

    @Override
    protected Duration commandTimeout() {
        return SILENCE;
    }

    /** Where the clients of the first session connect to. */
    String urlOfMine(int server) {
        return proxies.get(server).url();
    }

    /** Which waits a test is about. */
    Predicate<Wait> chosen() {
        return wait -> true;
    }

    /** What may stay for long, or belongs to Redisson. */
    @Override
    protected String lasting() {
        return "mark|token|turns|signals|latch|semaphore|barrier|quorum";
    }

    @Override
    protected void launchOthers() {
        String[] arguments = serverArguments().toArray(String[]::new);
        servers = List.of(server(), RedisServer.launch(arguments), RedisServer.launch(arguments));
        proxies = List.of(proxy(), FaultProxy.to(servers.get(1)), FaultProxy.to(servers.get(2)));
    }

    @AfterAll
    void shutDownOthers() {
        proxies.stream().skip(1).forEach(FaultProxy::close);
        servers.stream().skip(1).forEach(RedisServer::close);
    }

    @BeforeEach
    void open() {
        mine.clear();
        mine.addAll(clients(this::urlOfMine, commandTimeout()));
        side = side(mine, commandTimeout(), redisTimeout());
        others = side(clients(server -> servers.get(server).url(), SILENCE), SILENCE, Duration.ofMinutes(10));
        waits = new Waits(servers, side, others);
    }

    /** What was not given back, or was replaced, is of no interest. */
    @AfterEach
    void clear() {
        proxies.forEach(FaultProxy::heal);
        awaitEnds(giving);
        giving.clear();
        servers.forEach(server -> server.command("FLUSHALL"));
    }

    private interface Urls {
        String of(int server);
    }

    private List<RedissonClient> clients(Urls urls, Duration timeout) {
        return IntStream.range(0, servers.size())
                .mapToObj(server -> client(urls.of(server), timeout))
                .toList();
    }

    private Side side(List<RedissonClient> clients, Duration commandTimeout, Duration redisTimeout) {
        Interlock session = over(
                clients.get(0),
                builder -> builder.lease(lease()).commandTimeout(commandTimeout).redisTimeout(redisTimeout));
        QuorumInterlock quorum = Interlock.builder()
                .lease(lease())
                .commandTimeout(commandTimeout)
                .redisTimeout(redisTimeout)
                .openQuorum(clients);
        return new Side(session, clients.get(0), quorum);
    }

    /** All threads ask at once; and who waits for an adapted fair lock asks again when its lease is over. */
    @Override
    protected RedissonClient client(String url, Duration timeout) {
        Config config = smallConfig();
        config.setLockWatchdogTimeout(lease().toMillis());
        small(config.useSingleServer(), url)
                .setTimeout((int) timeout.toMillis())
                .setConnectionMinimumIdleSize(10)
                .setConnectionPoolSize(100);
        return shuttingDown(Redisson.create(config));
    }

    final List<RedisServer> servers() {
        return servers;
    }

    final List<FaultProxy> proxies() {
        return proxies;
    }

    /** The session to which something happens, with its quorum. */
    final Side mine() {
        return side;
    }

    final Side theirs() {
        return others;
    }

    final List<RedissonClient> clientsOfMine() {
        return mine;
    }

    final List<Wait> waits() {
        return waits.all().stream().filter(chosen()).toList();
    }

    /** The same with the sides exchanged: the first session has what threads of the other one wait for. */
    final void exchange() {
        waits = new Waits(servers, others, side);
    }

    final List<Actor> actors(String role) {
        return waits().stream().map(wait -> actor(role + " " + wait)).toList();
    }

    /** Returns threads of the other session that have what is waited for. */
    final List<Actor> others() {
        List<Actor> holders = actors("with");
        forEachWait(holders, (wait, holder) -> holder.run(wait.steps()::hold));
        return holders;
    }

    final List<Begun> beginToWait(List<Actor> holders) {
        List<Begun> waiting = new ArrayList<>();
        for (Wait wait : waits()) {
            for (int i = 0; i < wait.threads(); i++) {
                waiting.add(begin(wait.what(), actor("at " + wait), wait.steps()::await));
            }
        }
        waits().forEach(wait -> await(wait.what()).until(wait.steps()::isWaiting));
        forEachWait(holders, (wait, holder) -> holder.run(wait.steps()::prepareToGive));
        assertThat(waiting).noneMatch(Begun::hasEnded);
        return waiting;
    }

    static Begun begin(String what, Actor thread, Wait.Step step) {
        AtomicLong endNanos = new AtomicLong();
        return new Begun(
                what,
                thread,
                thread.ask(() -> {
                    try {
                        step.run();
                    } finally {
                        endNanos.set(Monotonic.nanos());
                    }
                    return true;
                }),
                endNanos);
    }

    static void give(Wait wait) throws InterruptedException {
        try {
            wait.steps().give();
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            // It is refused, too, or nobody is there any more.
            assertThat(e).isNotInstanceOf(NullPointerException.class);
        }
    }

    final void giveAll(List<Actor> holders) {
        forEachWait(holders, (wait, holder) -> giving.add(begin("give " + wait, holder, () -> give(wait))));
    }

    final void forEachWait(List<Actor> threads, BiConsumer<Wait, Actor> action) {
        List<Wait> all = waits();
        IntStream.range(0, all.size()).forEach(i -> action.accept(all.get(i), threads.get(i)));
    }

    static void awaitEnds(List<Begun> all) {
        await("each ends")
                .atMost(BOUND)
                .untilAsserted(() ->
                        assertThat(all.stream().filter(one -> !one.hasEnded())).isEmpty());
    }

    static void assertGetIn(List<Begun> all) {
        awaitEnds(all);
        assertThat(all)
                .allSatisfy(one -> assertThat(one.failure()).as(one.what()).isNull());
    }

    /** Asserts that each has failed with that, and what the message says. */
    static void assertFail(List<Begun> all, Class<? extends Exception> failure, String message) {
        SoftAssertions.assertSoftly(softly -> all.forEach(one -> softly.assertThat(one.failure())
                .as(one.what())
                .isInstanceOf(failure)
                .hasMessageMatching(message)));
    }

    /** All works again: a thread gets what it waits for. */
    final void assertWorkAgain() {
        List<Begun> again = new ArrayList<>();
        forEachWait(
                actors("again at"),
                (wait, thread) -> again.add(begin(wait + " again", thread, () -> awaitAgain(wait))));
        assertGetIn(again);
    }

    /** The end of an outage is noticed by the first command that is answered. */
    private static void awaitAgain(Wait wait) {
        await(wait + " again")
                .pollInSameThread()
                .ignoreExceptionsInstanceOf(RedisUnavailableException.class)
                .until(() -> {
                    wait.steps().awaitAgain();
                    return true;
                });
    }

    /** Has each of the session's calls begin, after something has happened. Returns those that can't return. */
    final List<Begun> callAll(Duration timed, Runnable fault) {
        List<Call> calls = new Calls(side, timed).all();
        List<Actor> threads = calls.stream().map(call -> actor("in " + call)).toList();
        List<Begun> before = IntStream.range(0, calls.size())
                .mapToObj(i ->
                        begin(calls.get(i).what(), threads.get(i), calls.get(i).before()))
                .toList();
        assertGetIn(before);
        fault.run();
        List<Begun> all = IntStream.range(0, calls.size())
                .mapToObj(i ->
                        begin(calls.get(i).what(), threads.get(i), calls.get(i).call()))
                .toList();
        awaitEnds(all);
        return IntStream.range(0, calls.size())
                .filter(i -> calls.get(i).isRefused())
                .mapToObj(all::get)
                .toList();
    }

    /**
     * Has a thread take a lock of each kind, a permit and a lock of a quorum. Returns how it gives them back, by name.
     */
    static Map<String, Wait.Step> holdAll(Actor holder, Interlock session, QuorumInterlock quorum) {
        Map<String, Wait.Step> held = new LinkedHashMap<>();
        Stream.of(LockKind.values()).forEach(kind -> {
            var lock = kind.of(session, "held-" + kind);
            holder.run(lock::lock);
            held.put("held-" + kind, lock::unlock);
        });
        var semaphore = session.semaphore("held-permit", 1);
        holder.run(semaphore::acquire);
        held.put("held-permit", semaphore::release);
        var lock = quorum.lock("held-quorum");
        holder.run(lock::lock);
        held.put("held-quorum", lock::unlock);
        return held;
    }
}
