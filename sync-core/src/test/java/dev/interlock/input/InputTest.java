package dev.interlock.input;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.LockOptions;
import dev.interlock.QuorumInterlock;
import dev.interlock.quorum.Nodes;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/**
 * Bad input is refused by an exception that names the argument and its range, before any command reaches Redis; nothing
 * is taken, and what is held stays held.
 */
@SuppressWarnings("NullAway") // What null does is the question.
class InputTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration YEAR = Duration.ofDays(365);
    private static final Duration SHORTEST = Duration.ofSeconds(Long.MIN_VALUE);
    private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    private static final RateLimit LIMIT = RateLimit.fixedWindow(1, SECOND);
    private static final TimeUnit NO_UNIT = null;
    private static final Duration NO_DURATION = null;

    private static Nodes nodes;
    private static List<RedissonClient> clients;
    private static RedissonClient twin;
    private static List<RedissonClient> shutDown;
    private static QuorumInterlock quorum;
    private static Interlock session;
    private static Interlock prefixed;
    private static Objects open;
    private static Interlock closed;
    private static Objects ofClosed;
    private static DistributedReentrantLock held;

    /** One call with one bad argument; the message contains all of {@code words}. */
    private record Row(String call, ThrowingCallable run, Class<? extends Exception> failure, List<String> words) {
        Row(String call, ThrowingCallable run, Class<? extends Exception> failure, String... words) {
            this(call, run, failure, List.of(words));
        }

        @Override
        public String toString() {
            return call;
        }
    }

    /** A call that takes a name; the error calls it {@code argument}. */
    private record Naming(String call, String argument, Consumer<String> run) {}

    /** One object of each type. */
    private record Objects(
            DistributedReentrantLock lock,
            DistributedReadWriteLock readWriteLock,
            DistributedSemaphore semaphore,
            DistributedCountDownLatch latch,
            DistributedCyclicBarrier barrier,
            RateLimiter limiter) {
        static Objects of(Interlock session, String name) {
            return new Objects(
                    session.lock(name),
                    session.readWriteLock(name),
                    session.semaphore(name, 1),
                    session.countDownLatch(name, 1),
                    session.cyclicBarrier(name, 2),
                    session.rateLimiter(name, LIMIT));
        }
    }

    @BeforeAll
    static void open() {
        nodes = Nodes.launch(3);
        clients = Nodes.clients(nodes.urls());
        twin = Nodes.clients(nodes.urls()).get(0);
        shutDown = Nodes.clients(nodes.urls());
        shutDown.forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
        quorum = Interlock.quorum(clients);
        String url = nodes.urls().get(0);
        session = Interlock.builder().uri(url).lease(YEAR).open();
        prefixed = Interlock.builder().uri(url).namespace("interlock").open();
        closed = Interlock.connect(url);
        open = Objects.of(session, "open");
        ofClosed = Objects.of(closed, "closed");
        closed.close();
        held = session.lock("held");
        held.lock();
    }

    /** How often each command has been executed at each server; what clients send without being asked doesn't count. */
    private static List<String> commands() {
        return IntStream.range(0, nodes.size())
                .mapToObj(nodes::node)
                .flatMap(node ->
                        String.valueOf(node.command("INFO", "commandstats")).lines())
                .filter(line -> line.startsWith("cmdstat_") && !line.matches("cmdstat_(info|ping):.*"))
                .map(line -> line.substring(0, line.indexOf(',')))
                .toList();
    }

    @AfterAll
    static void close() {
        held.unlock();
        session.close();
        prefixed.close();
        quorum.close();
        Stream.concat(clients.stream(), Stream.of(twin)).forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
        nodes.close();
    }

    @ParameterizedTest
    @MethodSource({
        "names",
        "missingForASession",
        "missingForASynchronizer",
        "missingForACall",
        "leases",
        "durations",
        "counts",
        "permits",
        "clients",
        "combinations",
        "callsOfAClosedSession"
    })
    void badInputIsRefusedBeforeItReachesRedis(Row row) {
        // Sessions have something to say by themselves now and then, but not whenever a bad call is made.
        await("a refusal without a command").pollDelay(Duration.ZERO).until(() -> {
            List<String> before = commands();
            assertRefused(row);
            return commands().equals(before);
        });
        assertThat(List.of(session.heldLocks(), held.getHoldCount(), quorum.heldLocks()))
                .containsExactly(1, 1, 0);
        assertThat(open.lock.isLocked()).isFalse();
    }

    private static void assertRefused(Row row) {
        AbstractThrowableAssert<?, ?> refusal = assertThatThrownBy(row.run).isInstanceOf(row.failure);
        row.words.forEach(refusal::hasMessageContaining);
    }

    private static Row illegal(String call, ThrowingCallable run, String... words) {
        return new Row(call, run, IllegalArgumentException.class, words);
    }

    private static Row missing(String argument, String call, ThrowingCallable run) {
        return new Row(call, run, NullPointerException.class, argument);
    }

    // ---- names

    /**
     * Half a surrogate pair has no form in UTF-8: Redis would take it for a question mark, and for all other halves.
     */
    static Stream<Row> names() {
        return namings().flatMap(naming -> {
            String must = naming.argument + " must ";
            String empty = naming.call.endsWith("forKey") ? must + "not be blank" : must + "not be empty";
            Stream<Row> rows = Stream.concat(
                    Stream.of(missing(naming.argument, naming.call, () -> naming.run.accept(null))),
                    Stream.concat(
                            Stream.of("\ud800", "a\udc00b")
                                    .map(half -> row(naming, half, must + "be text", "surrogate")),
                            Stream.of("x", "ß", "€", "😀").map(character -> tooLong(naming, character))));
            return naming.argument.equals("namespace") ? rows : Stream.concat(rows, Stream.of(row(naming, "", empty)));
        });
    }

    private static Row tooLong(Naming naming, String character) {
        int bytes = character.getBytes(UTF_8).length;
        int count = 1_024 / bytes + 1;
        return row(
                naming,
                character.repeat(count),
                naming.argument + " must be at most 1024 bytes long in UTF-8, but has " + bytes * count);
    }

    private static Row row(Naming naming, String name, String... words) {
        return illegal(naming.call, () -> naming.run.accept(name), words);
    }

    private static Stream<Naming> namings() {
        return Stream.of(
                new Naming("lock", "name", name -> session.lock(name)),
                new Naming("lock with options", "name", name -> session.lock(name, LockOptions.retain(SECOND))),
                new Naming("fairLock", "name", name -> session.fairLock(name)),
                new Naming("readWriteLock", "name", name -> session.readWriteLock(name)),
                new Naming("fairReadWriteLock", "name", name -> session.fairReadWriteLock(name)),
                new Naming("semaphore", "name", name -> session.semaphore(name, 1)),
                new Naming("countDownLatch", "name", name -> session.countDownLatch(name, 1)),
                new Naming("cyclicBarrier", "name", name -> session.cyclicBarrier(name, 1)),
                new Naming("rateLimiter", "name", name -> session.rateLimiter(name, LIMIT)),
                new Naming("quorum lock", "name", name -> quorum.lock(name)),
                new Naming(
                        "operator inspect", "name", name -> session.operator().inspect(name)),
                new Naming("limiter forKey", "key", name -> open.limiter.forKey(name)),
                new Naming("lock newCondition", "conditionName", name -> open.lock.newCondition(name)),
                new Naming(
                        "writeLock newCondition",
                        "conditionName",
                        name -> open.readWriteLock.writeLock().newCondition(name)),
                new Naming("namespace", "namespace", name -> Interlock.builder().namespace(name)));
    }

    // ---- arguments that are null

    static Stream<Row> missingForASession() {
        InterlockBuilder builder = Interlock.builder();
        return Stream.of(
                missing("uri", "connect", () -> Interlock.connect(null)),
                missing("client", "using", () -> Interlock.using(null)),
                missing("uri", "builder uri", () -> builder.uri(null)),
                missing("client", "builder client", () -> builder.client(null)),
                missing("listener", "builder listener", () -> builder.listener(null)),
                missing("nanos", "builder ticker", () -> builder.ticker(null)),
                missing("wallClock", "builder ticker", () -> builder.ticker(System::nanoTime, null)),
                missing("sessionName", "builder sessionName", () -> builder.sessionName(null)),
                missing("user", "builder credentials", () -> builder.credentials(null, "x")),
                missing("password", "builder credentials", () -> builder.credentials("x", null)),
                missing("clients", "quorum", () -> Interlock.quorum(null)),
                missing(
                        "clients",
                        "quorum of null",
                        () -> Interlock.quorum(Arrays.asList(clients.get(0), null, clients.get(1)))));
    }

    static Stream<Row> missingForASynchronizer() {
        return Stream.of(
                missing("lock", "adapt lock", () -> session.adapt((RLock) null)),
                missing("lock", "adapt read-write lock", () -> session.adapt((RReadWriteLock) null)),
                missing("latch", "adapt latch", () -> session.adapt((RCountDownLatch) null)),
                missing("semaphore", "adapt semaphore", () -> session.adapt((RSemaphore) null)),
                missing("options", "lock", () -> session.lock("any", null)),
                missing("options", "semaphore", () -> session.semaphore("any", 1, null)),
                missing("retention", "countDownLatch", () -> session.countDownLatch("any", 1, null)),
                missing("limit", "rateLimiter", () -> session.rateLimiter("any", null)),
                missing("name", "execute", () -> session.execute(null, SECOND, () -> "")),
                missing("wait", "execute", () -> session.execute("any", null, () -> "")),
                missing("task", "execute", () -> session.execute("any", SECOND, null)));
    }

    static Stream<Row> missingForACall() {
        DistributedReadWriteLock pair = open.readWriteLock;
        return Stream.of(
                missing("unit", "lock of a lease", () -> open.lock.lock(1, null)),
                missing("unit", "tryLock", () -> open.lock.tryLock(1, NO_UNIT)),
                missing("unit", "tryLock of a lease", () -> open.lock.tryLock(1, 1, null)),
                missing("wait", "tryLock", () -> open.lock.tryLock(NO_DURATION)),
                missing("listener", "lock onLost", () -> open.lock.onLost(null)),
                missing("unit", "readLock tryLock", () -> pair.readLock().tryLock(1, NO_UNIT)),
                missing("unit", "writeLock tryLock", () -> pair.writeLock().tryLock(1, NO_UNIT)),
                missing("wait", "readLock tryLock", () -> pair.readLock().tryLock(NO_DURATION)),
                missing("wait", "writeLock tryLock", () -> pair.writeLock().tryLock(NO_DURATION)),
                missing("listener", "readWriteLock onLost", () -> pair.onLost(null)),
                missing("unit", "semaphore tryAcquire", () -> open.semaphore.tryAcquire(1, NO_UNIT)),
                missing("wait", "semaphore tryAcquire", () -> open.semaphore.tryAcquire(1, NO_DURATION)),
                missing("listener", "semaphore onLost", () -> open.semaphore.onLost(null)),
                missing("unit", "latch await", () -> open.latch.await(1, null)),
                missing("timeout", "latch await", () -> open.latch.await(null)),
                missing("unit", "barrier await", () -> open.barrier.await(1, null)),
                missing("timeout", "barrier await", () -> open.barrier.await(null)),
                missing("window", "fixedWindow", () -> RateLimit.fixedWindow(1, null)),
                missing("timeout", "limiter tryAcquire", () -> open.limiter.tryAcquire(1, null)),
                missing("policy", "limiter whenUnavailable", () -> open.limiter.whenUnavailable(null)),
                missing("limit", "limiter update", () -> open.limiter.update(null)));
    }

    // ---- arguments out of their range

    /** A lease is refused whether the lock is held already or not. */
    static Stream<Row> leases() {
        return Stream.of(
                        lease(0, TimeUnit.SECONDS),
                        lease(-1, TimeUnit.SECONDS),
                        lease(99, TimeUnit.MILLISECONDS),
                        lease(99_999, TimeUnit.MICROSECONDS),
                        lease(99_999_999, TimeUnit.NANOSECONDS),
                        lease(366, TimeUnit.DAYS),
                        lease(Long.MAX_VALUE, TimeUnit.DAYS),
                        lease(Long.MAX_VALUE, TimeUnit.MILLISECONDS),
                        lease(Long.MIN_VALUE, TimeUnit.DAYS),
                        lease(Long.MIN_VALUE, TimeUnit.NANOSECONDS))
                .flatMap(Function.identity());
    }

    private static Stream<Row> lease(long lease, TimeUnit unit) {
        String range = "lease must be from 100 ms to 365 days, but is " + lease + " " + unit;
        return Stream.of(open.lock, held, quorum.lock("open"))
                .flatMap(lock -> Stream.of(
                        illegal("lock of a lease", () -> lock.lock(lease, unit), range),
                        illegal("tryLock of a lease", () -> lock.tryLock(0, lease, unit), range),
                        illegal("timed tryLock of a lease", () -> lock.tryLock(1, lease, unit), range)));
    }

    static Stream<Row> durations() {
        Stream<Row> ofSettings = Stream.of(
                        setting("lease", InterlockBuilder::lease, 100),
                        setting("handoffSlice", InterlockBuilder::handoffSlice, 0),
                        setting("redisTimeout", InterlockBuilder::redisTimeout, 1),
                        setting("commandTimeout", InterlockBuilder::commandTimeout, 10),
                        setting("interval", InterlockBuilder::deadlockWatch, 1_000))
                .flatMap(Function.identity());
        Stream<Row> ofRetentions = Stream.concat(Stream.of(Duration.ZERO), outside(SECOND))
                .map(bad -> illegal(
                        "countDownLatch",
                        () -> session.countDownLatch("any", 1, bad),
                        "retention must be from 1 s to 365 days, but is " + bad));
        Stream<Row> ofWindows = Stream.of("PT0S", "PT-1S", "PT0.0000001S", "PT1.0005S", "P367D", "P100000000D")
                .map(bad -> illegal(
                        "slidingWindow",
                        () -> RateLimit.slidingWindow(1, Duration.parse(bad)),
                        "window must be from 1 ms to 366 days"));
        Stream<Row> ofClose = Stream.of(Duration.ofNanos(-1), Duration.ofDays(366))
                .map(bad -> illegal("close", () -> session.close(bad), "await must be from 0 ms to 365 days"));
        return Stream.of(ofSettings, ofRetentions, ofWindows, ofClose).flatMap(Function.identity());
    }

    private static Stream<Row> setting(
            String argument, BiFunction<InterlockBuilder, Duration, InterlockBuilder> setter, long leastMillis) {
        String range = argument + " must be from " + leastMillis + " ms to 365 days, but is ";
        Row missing = missing(argument, argument, () -> setter.apply(Interlock.builder(), null));
        return Stream.concat(
                Stream.of(missing),
                outside(Duration.ofMillis(leastMillis))
                        .map(bad -> illegal(argument, () -> setter.apply(Interlock.builder(), bad), range + bad)));
    }

    /** Durations that are too short, or longer than a year. */
    private static Stream<Duration> outside(Duration least) {
        return Stream.of(
                least.minusNanos(1),
                least.minusMillis(1),
                Duration.ofNanos(-1),
                Duration.ofDays(-1),
                SHORTEST,
                YEAR.plusNanos(1),
                Duration.ofDays(366),
                LONGEST);
    }

    static Stream<Row> counts() {
        DistributedSemaphore semaphore = open.semaphore;
        Stream<Row> counts = IntStream.of(-1, Integer.MIN_VALUE)
                .boxed()
                .flatMap(bad -> Stream.of(
                        illegal("acquire", () -> semaphore.acquire(bad), "permits"),
                        illegal("acquireUninterruptibly", () -> semaphore.acquireUninterruptibly(bad), "permits"),
                        illegal("tryAcquire", () -> semaphore.tryAcquire(bad), "permits"),
                        illegal("timed tryAcquire", () -> semaphore.tryAcquire(bad, 1, TimeUnit.SECONDS), "permits"),
                        illegal("tryAcquire for ever", () -> semaphore.tryAcquire(bad, LONGEST), "permits"),
                        illegal("release", () -> semaphore.release(bad), "permits"),
                        illegal("reducePermits", () -> semaphore.reducePermits(bad), "reduction"),
                        illegal(
                                "countDownLatch",
                                () -> session.countDownLatch("any", bad),
                                "count must be 0 or more, but is " + bad),
                        illegal("forceRelease", () -> session.operator().forceRelease("any", bad), "token must be 1")));
        Stream<Row> parties = Stream.of(0, -1, Integer.MIN_VALUE)
                .map(bad -> illegal(
                        "cyclicBarrier",
                        () -> session.cyclicBarrier("any", bad),
                        "parties must be 1 or more, not " + bad));
        Stream<Row> replicas = Stream.of(-1, 101)
                .map(bad -> illegal(
                        "replicaAcknowledgements",
                        () -> Interlock.builder().replicaAcknowledgements(bad),
                        "replicaAcknowledgements must be from 0 to 100, but is " + bad));
        return Stream.of(counts, parties, replicas).flatMap(Function.identity());
    }

    static Stream<Row> permits() {
        RateLimiter limiter = open.limiter;
        return Stream.of(
                        permits("permits", n -> RateLimit.fixedWindow(n, SECOND)),
                        permits("permits", n -> RateLimit.slidingWindow(n, SECOND)),
                        permits("permits", n -> RateLimit.tokenBucket(n, SECOND)),
                        permits("burst", n -> RateLimit.tokenBucket(1, SECOND).withBurst(n)),
                        permits("permits", limiter::tryAcquire),
                        permits("permits", limiter::acquire),
                        permits("permits", limiter::decide),
                        permits("permits", limiter::tryAcquireAsync),
                        permits("permits", limiter::acquireAsync),
                        permits("permits", limiter::decideAsync),
                        permits("permits", n -> limiter.tryAcquire(n, SECOND)),
                        permits("permits", n -> limiter.tryAcquireAsync(n, SECOND)),
                        permits("n", limiter::prefetch))
                .flatMap(Function.identity());
    }

    private static Stream<Row> permits(String argument, LongConsumer call) {
        return LongStream.of(0, -1, Long.MIN_VALUE, 1_000_000_001, Long.MAX_VALUE)
                .mapToObj(bad -> illegal(
                        argument, () -> call.accept(bad), argument + " must be from 1 to 1000000000, but is " + bad));
    }

    // ---- clients, and arguments that don't go together

    static Stream<Row> clients() {
        List<RedissonClient> four = List.of(clients.get(0), clients.get(1), clients.get(2), twin);
        Stream<Row> numbers = Stream.of(0, 1, 2, 4)
                .map(count -> illegal(
                        "quorum",
                        () -> Interlock.quorum(four.subList(0, count)),
                        "clients must be an odd number, 3 or more",
                        "are " + count));
        Stream<Row> same = Stream.of(clients.get(0), twin)
                .map(client -> illegal(
                        "quorum",
                        () -> Interlock.quorum(List.of(clients.get(0), clients.get(1), client)),
                        "clients must be those of different servers",
                        "only 2"));
        Stream<Row> others = Stream.of(
                illegal("quorum", () -> Interlock.quorum(shutDown), "client is shut down"),
                illegal(
                        "openQuorum with a client",
                        () -> Interlock.builder().client(twin).openQuorum(clients),
                        "give neither uri nor client"),
                illegal("lazy quorum", () -> Interlock.builder().lazy().openQuorum(List.of()), "lazily"),
                illegal("open", () -> Interlock.builder().open(), "give either uri or client"),
                illegal(
                        "open",
                        () -> Interlock.builder()
                                .uri(nodes.urls().get(0))
                                .client(twin)
                                .open(),
                        "give either uri or client"));
        return Stream.of(numbers, same, others).flatMap(Function.identity());
    }

    static Stream<Row> combinations() {
        RateLimiter limiter = open.limiter;
        DistributedReadWriteLock pair = open.readWriteLock;
        Stream<Row> keysOfLocks = Stream.of(
                        "interlock:{a}:rw", "interlock:{a}:queue", "interlock:queue:{a}", "interlock:{")
                .flatMap(InputTest::keyOfALock);
        Stream<Row> sessionNames = Stream.of("", " ", "a b", "line\nend", "ä", "tab\t", "\u007f", "x".repeat(101))
                .map(name -> illegal(
                        "sessionName",
                        () -> Interlock.builder().sessionName(name),
                        "sessionName must be 1 to 100 printable ASCII characters without blanks"));
        Stream<Row> blankKeys = Stream.of(" ", "\n\t")
                .map(key -> illegal("limiter forKey", () -> limiter.forKey(key), "key must not be blank"));
        Class<? extends Exception> state = IllegalStateException.class;
        Class<? extends Exception> notHeld = IllegalMonitorStateException.class;
        Class<? extends Exception> unsupported = UnsupportedOperationException.class;
        Stream<Row> others = Stream.of(
                illegal("builder credentials", () -> Interlock.builder().credentials("x", ""), "password must not"),
                illegal(
                        "credentials beside those of the uri",
                        () -> Interlock.builder()
                                .uri("redis://user:secret@127.0.0.1:1")
                                .credentials("user", "secret")
                                .open(),
                        "credentials need a uri, and one without credentials of its own"),
                new Row("forKey of a key", () -> limiter.forKey("a").forKey("b"), state, "key already"),
                new Row("forKey of prefetch", () -> limiter.prefetch(2).forKey("b"), state, "forKey"),
                new Row("withBurst of a window", () -> LIMIT.withBurst(2), state, "burst"),
                new Row("fencingToken of nothing", pair.writeLock()::fencingToken, notHeld),
                new Row("assertHeld of nothing", pair.readLock()::assertHeld, notHeld),
                new Row("readLock newCondition", pair.readLock()::newCondition, unsupported),
                new Row("quorum newCondition", quorum.lock("open")::newCondition, unsupported, "quorum"));
        return Stream.of(keysOfLocks, sessionNames, blankKeys, others).flatMap(Function.identity());
    }

    /** A lock has the key of its name, which must be none of those in which other locks are kept. */
    private static Stream<Row> keyOfALock(String name) {
        String[] words = {"name must not begin with 'interlock:'", "'" + name + "'"};
        return Stream.of(
                illegal("lock", () -> session.lock(name), words),
                illegal("fairLock", () -> session.fairLock(name), words),
                illegal("lock with options", () -> session.lock(name, LockOptions.retain(SECOND)), words),
                illegal("lock in a namespace", () -> prefixed.lock(name.substring("interlock:".length())), words));
    }

    // ---- closed sessions

    static Stream<Row> callsOfAClosedSession() {
        Objects gone = ofClosed;
        return Stream.<ThrowingCallable>of(
                        () -> closed.lock("any"),
                        () -> closed.readWriteLock("any"),
                        () -> closed.semaphore("any", 1),
                        () -> closed.countDownLatch("any", 1),
                        () -> closed.cyclicBarrier("any", 1),
                        () -> closed.rateLimiter("any", LIMIT),
                        gone.lock::lock,
                        gone.readWriteLock.readLock()::lock,
                        gone.readWriteLock.writeLock()::lock,
                        gone.semaphore::acquire,
                        gone.semaphore::tryAcquire,
                        gone.semaphore::availablePermits,
                        gone.semaphore::release,
                        gone.latch::countDown,
                        gone.latch::await,
                        () -> gone.latch.await(1, TimeUnit.SECONDS),
                        gone.latch::getCount,
                        gone.barrier::await,
                        gone.barrier::getNumberWaiting)
                .map(call -> new Row("closed session", call, IllegalStateException.class, "closed"));
    }

    @Test
    void closedSessionAnswersWithoutRedis() {
        assertThat(ofClosed.readWriteLock.getReadLockCount()).isZero();
        assertThat(ofClosed.readWriteLock.isWriteLocked()).isFalse();
        assertThat(ofClosed.barrier.getParties()).isEqualTo(2);
    }

    // ---- the ends of the ranges

    @Test
    void endsOfTheRangesAreAccepted() {
        assertThat(Stream.of(
                        Interlock.builder().lease(Duration.ofMillis(100)).lease(YEAR),
                        Interlock.builder().handoffSlice(Duration.ZERO).handoffSlice(YEAR),
                        Interlock.builder().redisTimeout(Duration.ofMillis(1)).redisTimeout(YEAR),
                        Interlock.builder()
                                .commandTimeout(Duration.ofMillis(10))
                                .commandTimeout(YEAR),
                        Interlock.builder().replicaAcknowledgements(0).replicaAcknowledgements(100),
                        Interlock.builder().sessionName("x".repeat(100)),
                        Interlock.builder().namespace("")))
                .doesNotContainNull();
        assertThat(session.cyclicBarrier("most", Integer.MAX_VALUE).getParties())
                .isEqualTo(Integer.MAX_VALUE);
        assertThat(session.countDownLatch("least", 1, SECOND).getCount()).isEqualTo(1);
        assertThat(session.countDownLatch("most", 1, YEAR).getCount()).isEqualTo(1);
        assertThat(open.limiter.prefetch(1).forKey("b")).isNotNull();
    }
}
