package dev.interlock.refusal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.QuorumInterlock;
import dev.interlock.SyncListener;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.refusal.Calls.Call;
import dev.interlock.refusal.Waits.Side;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redis refuses for good what a session asks: all, or what concerns one key of a name. Every wait of its threads ends,
 * and so does every call.
 */
@SuppressWarnings("NullAway.Init") // before each test
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LastingRefusalTest extends FaultFixture {
    /** What is refused that ends by its lease is bounded by this. */
    private static final Duration LEASE = Duration.ofSeconds(5);

    /** So long that nobody takes a refusal for silence, however busy the machine is. */
    private static final Duration SILENCE = Duration.ofSeconds(8);

    private static final Duration REDIS_TIMEOUT = Duration.ofMinutes(10);

    /** For what is given up after a lease, or after silence. */
    private static final Duration BOUND = Duration.ofSeconds(40);

    private static final String USER = "app";
    private static final String PASSWORD = "PASSWORD";

    private final List<RedissonClient> mine = new ArrayList<>();
    private List<RedisServer> servers = List.of();
    private Side side;
    private Waits waits;

    /** A thread that waits or calls. */
    private record Begun(String what, Actor thread, CompletableFuture<Boolean> end) {
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

    /** Why Redis refuses all that a session asks. */
    @SuppressWarnings("ImmutableEnumChecker") // nobody changes the rules
    enum Cause {
        /** Connections are still allowed: a client that can't connect counts as an outage. */
        NO_COMMAND("-@all", "+@connection"),
        NO_KEY("resetkeys"),
        NO_CLIENT;

        private final String[] rules;

        Cause(String... rules) {
            this.rules = rules;
        }

        void begin(LastingRefusalTest test) {
            if (this == NO_CLIENT) {
                test.mine.forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
            } else {
                test.setUser(rules);
            }
        }
    }

    /** What may stay for long, or belongs to Redisson. */
    @Override
    protected String lasting() {
        return "mark|token|turns|signals|latch|semaphore|barrier|quorum";
    }

    @Override
    protected void launchOthers() {
        servers = List.of(server(), RedisServer.launch(), RedisServer.launch());
    }

    @AfterAll
    void shutDownOthers() {
        servers.stream().skip(1).forEach(RedisServer::close);
    }

    private void setUser(String... rules) {
        String[] command = Stream.concat(Stream.of("ACL", "SETUSER", USER), Stream.of(rules))
                .toArray(String[]::new);
        servers.forEach(server -> server.command(command));
    }

    private void allowAll() {
        setUser("on", ">" + PASSWORD, "~*", "&*", "+@all");
    }

    private static String urlOfUser(RedisServer server) {
        return "redis://" + USER + ":" + PASSWORD + "@" + server.host() + ":" + server.port();
    }

    @BeforeEach
    void open() {
        allowAll();
        mine.clear();
        side = side(LastingRefusalTest::urlOfUser, mine);
        waits = new Waits(servers, side, side(RedisServer::url, new ArrayList<>()));
    }

    /** What was not given back, or was replaced, is of no interest. */
    @AfterEach
    void clear() {
        allowAll();
        servers.forEach(server -> server.command("FLUSHALL"));
    }

    private Side side(Function<RedisServer, String> url, List<RedissonClient> clients) {
        clients.addAll(servers.stream().map(url).map(this::client).toList());
        Interlock session = over(
                clients.get(0),
                builder -> builder.lease(LEASE).commandTimeout(SILENCE).redisTimeout(REDIS_TIMEOUT));
        QuorumInterlock quorum = Interlock.builder()
                .lease(LEASE)
                .commandTimeout(SILENCE)
                .redisTimeout(REDIS_TIMEOUT)
                .openQuorum(clients);
        return new Side(session, clients.get(0), quorum);
    }

    /** All threads ask at once; and who waits for an adapted fair lock asks again when its lease is over. */
    @Override
    protected RedissonClient client(String url) {
        Config config = smallConfig();
        config.setLockWatchdogTimeout(LEASE.toMillis());
        small(config.useSingleServer(), url)
                .setTimeout((int) SILENCE.toMillis())
                .setConnectionMinimumIdleSize(10)
                .setConnectionPoolSize(100);
        return shuttingDown(Redisson.create(config));
    }

    // ---- waits

    /** Each thread is told, in whichever way it waits. When nothing is refused any more, all works again. */
    @ParameterizedTest
    @EnumSource
    void whatIsRefusedAltogetherEndsEachWait(Cause cause) {
        List<Actor> others = others();
        List<Begun> waiting = beginToWait(others);
        cause.begin(this);
        interrupt(waiting);
        awaitEnds(waiting);
        SoftAssertions.assertSoftly(softly -> waiting.forEach(one -> assertRefusal(softly, one)));
        forEachWait(others, (wait, other) -> other.run(() -> give(wait)));
        if (cause != Cause.NO_CLIENT) {
            allowAll();
            List<Begun> again = new ArrayList<>();
            forEachWait(
                    actors("again at"),
                    (wait, thread) -> again.add(begin(wait + " again", thread, wait.steps()::awaitAgain)));
            awaitEnds(again);
            assertThat(again)
                    .allSatisfy(one -> assertThat(one.failure()).as(one.what).isNull());
        }
    }

    /**
     * Something else is under one of the keys of each name. Each thread is told so; or it gets what it waits for when
     * the other session gives that, be it as late as by the end of a lease.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void aKeyOfAnotherTypeEndsEachWait(int number) {
        assertEachWaitEnds(() -> waits.all().stream()
                .flatMap(wait -> wait.keys().stream().skip(number).limit(1))
                .forEach(this::replace));
    }

    private void assertEachWaitEnds(Runnable refusal) {
        List<Actor> others = others();
        List<Begun> waiting = beginToWait(others);
        refusal.run();
        interrupt(waiting);
        forEachWait(others, (wait, other) -> other.begin(() -> give(wait)));
        awaitEnds(waiting);
        SoftAssertions.assertSoftly(softly -> waiting.forEach(one -> {
            Throwable failure = one.failure();
            if (failure != null) {
                // Or what was replaced is missing.
                softly.assertThat(failure)
                        .as(one.what)
                        .isInstanceOfAny(
                                IllegalStateException.class, InterruptedException.class, BrokenBarrierException.class);
            }
        }));
    }

    /** The same for all other keys. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 5, 6, 7, 8})
    @Tag("proof")
    void anotherKeyOfAnotherTypeEndsEachWait(int number) {
        aKeyOfAnotherTypeEndsEachWait(number);
    }

    /** The same if some of what scripts call is not allowed any more: they end halfway. */
    @ParameterizedTest
    @ValueSource(
            strings = {"-zadd", "-zrem", "-hset", "-hdel", "-set", "-incr", "-pexpire", "-publish", "resetchannels"})
    @Tag("proof")
    void aMissingRightEndsEachWait(String rule) {
        assertEachWaitEnds(() -> setUser(rule));
    }

    private void replace(String key) {
        String script = """
            local isList = redis.call('type', KEYS[1]).ok == 'list'
            redis.call('del', KEYS[1])
            redis.call(isList and 'set' or 'rpush', KEYS[1], 'something')
            """;
        servers.forEach(server -> server.command("EVAL", script, "1", key));
    }

    private List<Actor> actors(String role) {
        return waits.all().stream().map(wait -> actor(role + " " + wait)).toList();
    }

    /** Returns threads of the other session that have what is waited for. */
    private List<Actor> others() {
        List<Actor> others = actors("with");
        forEachWait(others, (wait, other) -> other.run(wait.steps()::hold));
        return others;
    }

    private List<Begun> beginToWait(List<Actor> others) {
        List<Begun> waiting = new ArrayList<>();
        for (Wait wait : waits.all()) {
            for (int i = 0; i < wait.threads(); i++) {
                waiting.add(begin(wait.what(), actor("at " + wait), wait.steps()::await));
            }
        }
        waits.all().forEach(wait -> await(wait.what()).until(wait.steps()::isWaiting));
        forEachWait(others, (wait, other) -> other.run(wait.steps()::prepareToGive));
        assertThat(waiting).noneMatch(Begun::hasEnded);
        return waiting;
    }

    private void interrupt(List<Begun> waiting) {
        List<String> interrupted =
                waits.all().stream().filter(Wait::isInterrupted).map(Wait::what).toList();
        waiting.stream().filter(one -> interrupted.contains(one.what)).forEach(one -> one.thread.interrupt());
    }

    private static void give(Wait wait) throws InterruptedException {
        try {
            wait.steps().give();
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            // It is refused, too, or nobody is there any more.
            assertThat(e).isNotInstanceOf(NullPointerException.class);
        }
    }

    private void forEachWait(List<Actor> threads, BiConsumer<Wait, Actor> action) {
        IntStream.range(0, threads.size())
                .forEach(i -> action.accept(waits.all().get(i), threads.get(i)));
    }

    private static Begun begin(String what, Actor thread, Wait.Step step) {
        return new Begun(what, thread, thread.ask(() -> {
            step.run();
            return true;
        }));
    }

    private static void awaitEnds(List<Begun> all) {
        await("each ends")
                .atMost(BOUND)
                .untilAsserted(() ->
                        assertThat(all.stream().filter(one -> !one.hasEnded())).isEmpty());
    }

    private static void assertRefusal(SoftAssertions softly, Begun one) {
        softly.assertThat(one.failure())
                .as(one.what)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageMatching("(Redis|Redisson) refuses .*");
    }

    // ---- leases

    /** What threads hold can't be renewed, and is reported as lost when its lease is over. */
    @ParameterizedTest
    @EnumSource
    @Tag("proof")
    void whatIsNotRenewedIsLost(Cause cause) {
        List<String> lost = new CopyOnWriteArrayList<>();
        SyncListener listener = new SyncListener() {
            @Override
            public void lost(LeaseLostException loss) {
                lost.add(loss.lockName());
            }
        };
        side.session().addListener(listener);
        side.quorum().addListener(listener);
        List<String> held = new ArrayList<>();
        Actor holder = actor("holder");
        for (LockKind kind : LockKind.values()) {
            held.add("held-" + kind);
            holder.run(kind.of(side.session(), "held-" + kind)::lock);
        }
        held.addAll(List.of("held-permit", "held-quorum"));
        holder.run(side.session().semaphore("held-permit", 1)::acquire);
        holder.run(side.quorum().lock("held-quorum")::lock);
        if (cause == Cause.NO_CLIENT) {
            // Else only Redisson knows.
            held.add("held-adapted");
            holder.run(side.session().adapt(side.client().getLock("held-adapted"))::lock);
        }
        cause.begin(this);
        await("losses").atMost(BOUND).untilAsserted(() -> assertThat(lost).containsAll(held));
    }

    // ---- calls

    /** What is asked is told to be refused. What is said, as a release is, may be said later, in the background. */
    @ParameterizedTest
    @EnumSource
    @Tag("proof")
    void eachCallEnds(Cause cause) {
        List<Call> calls = new Calls(side).all();
        List<Actor> threads = calls.stream().map(call -> actor("in " + call)).toList();
        List<Begun> before = IntStream.range(0, calls.size())
                .mapToObj(i ->
                        begin(calls.get(i).what(), threads.get(i), calls.get(i).before()))
                .toList();
        awaitEnds(before);
        assertThat(before)
                .allSatisfy(one -> assertThat(one.failure()).as(one.what).isNull());
        cause.begin(this);
        List<Begun> all = IntStream.range(0, calls.size())
                .mapToObj(i ->
                        begin(calls.get(i).what(), threads.get(i), calls.get(i).call()))
                .toList();
        awaitEnds(all);
        SoftAssertions.assertSoftly(softly -> IntStream.range(0, calls.size())
                .filter(i -> calls.get(i).isRefused())
                .forEach(i -> assertRefusal(softly, all.get(i))));
    }
}
