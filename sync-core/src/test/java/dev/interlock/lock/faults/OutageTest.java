package dev.interlock.lock.faults;

import static dev.interlock.testing.TooLate.assertBetween;
import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Redis is gone for a while: nobody hangs, nobody thinks he holds what he doesn't, and afterwards everything works. */
class OutageTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(3);

    /** So short that its end can be awaited. */
    private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

    /** Until anybody notices: the next pulse, and its command time-out. */
    private static final Duration NOTICED = PULSE.plus(SHORT_TIMEOUT);

    /** The ways in which Redis can be gone. */
    @SuppressWarnings("ImmutableEnumChecker") // their functions keep nothing
    enum Fault {
        KILLED(test -> test.server().kill(), test -> test.server().restart()),
        PAUSED(test -> test.server().pause(), test -> test.server().resume()),
        REFUSED(OutageTest::refuse, test -> test.proxy().heal()),
        STALLED(test -> test.proxy().stall(), test -> test.proxy().heal());

        private final Consumer<FaultFixture> beginning;
        private final Consumer<FaultFixture> end;

        Fault(Consumer<FaultFixture> beginning, Consumer<FaultFixture> end) {
            this.beginning = beginning;
            this.end = end;
        }

        void begin(FaultFixture test) {
            beginning.accept(test);
        }

        void end(FaultFixture test) {
            end.accept(test);
        }
    }

    private static void refuse(FaultFixture test) {
        test.proxy().refuse(true);
        test.proxy().cut();
    }

    @Override
    protected List<String> serverArguments() {
        return List.of("--appendonly", "yes", "--appendfsync", "always");
    }

    /** Each test waits for commands to time out. */
    @Override
    protected Duration commandTimeout() {
        return SHORT_TIMEOUT;
    }

    private Interlock failing(Recorder recorder) {
        return session(builder -> builder.redisTimeout(REDIS_TIMEOUT).listener(recorder));
    }

    /** The ways in which Redis is gone for a while. */
    Stream<Fault> faults() {
        return Stream.of(Fault.KILLED, Fault.STALLED);
    }

    private static void assertWorks(DistributedReentrantLock lock, Actor by) {
        await("works again").ignoreExceptions().until(() -> by.get(() -> lock.tryLock(1, TimeUnit.SECONDS)));
        by.run(lock::assertHeld);
        by.run(lock::unlock);
    }

    /**
     * A thread that waits for a remote holder, and those behind it, fail together, redisTimeout after the beginning.
     */
    @ParameterizedTest
    @MethodSource("faults")
    void waitingThreadsFailTogether(Fault fault) {
        Recorder recorder = new Recorder();
        DistributedReentrantLock lock = lock(failing(recorder), NAME);
        DistributedReentrantLock other = lock(session(), NAME);
        Actor holder = actor("holder");
        holder.run(other::lock);
        List<Actor> crowd =
                IntStream.range(0, 10).mapToObj(i -> actor("waiter-" + i)).toList();
        ConcurrentLinkedQueue<Long> ends = new ConcurrentLinkedQueue<>();
        List<CompletableFuture<Boolean>> waits = crowd.stream()
                .map(one -> one.begin(() -> lockAndNoteEnd(lock, ends)))
                .toList();
        awaitTickets(NAME, 1);
        await("queued").until(() -> lock.getQueueLength() == 9);
        fault.begin(this);
        long begun = Monotonic.nanos();
        Duration latest = REDIS_TIMEOUT.plus(NOTICED).plus(SLACK);
        for (CompletableFuture<Boolean> wait : waits) {
            assertThat(wait)
                    .failsWithin(latest)
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(RedisUnavailableException.class);
        }
        long first = ends.stream().min(Long::compare).orElseThrow();
        long last = ends.stream().max(Long::compare).orElseThrow();
        assertThat(Duration.ofNanos(first - begun))
                .as("not before its time")
                .isGreaterThan(REDIS_TIMEOUT.minus(NOTICED));
        assertWithin("not after its time", latest, Duration.ofNanos(last - begun));
        assertWithin("together", SHORT_TIMEOUT.plus(SLACK), Duration.ofNanos(last - first));
        crowd.forEach(one -> assertThat(one.get(lock::getHoldCount)).isZero());
        assertThat(lock.isLocked()).isFalse();
        fault.end(this);
        holder.run(other::unlock);
        assertWorks(lock, crowd.get(0));
        await("told").until(() -> recorder.count(Recorder.Kind.REACHABLE) == 1);
        assertThat(recorder.count(Recorder.Kind.UNREACHABLE)).isEqualTo(1);
    }

    private static void lockAndNoteEnd(DistributedReentrantLock lock, Collection<Long> ends) {
        try {
            lock.lock();
        } finally {
            ends.add(Monotonic.nanos());
        }
    }

    /** A free name can't be had either: redisTimeout counts from the first command that wasn't answered. */
    @ParameterizedTest
    @MethodSource("faults")
    @Tag("proof")
    void aThreadThatComesDuringTheOutageFailsInTime(Fault fault) {
        DistributedReentrantLock lock = lock(failing(new Recorder()), NAME);
        Actor actor = actor("actor");
        fault.begin(this);
        long begun = Monotonic.nanos();
        assertThatExceptionOfType(RedisUnavailableException.class)
                .isThrownBy(() -> actor.run(lock::lock))
                .withMessageContaining(NAME);
        assertBetween(
                REDIS_TIMEOUT.minusMillis(50),
                REDIS_TIMEOUT.plus(SHORT_TIMEOUT).plus(SLACK),
                Duration.ofNanos(Monotonic.nanos() - begun));
        assertThat(actor.get(lock::getHoldCount)).isZero();
        fault.end(this);
        assertWorks(lock, actor);
    }

    /** A timed tryLock keeps its own deadline, an untimed one has one command time-out. */
    @ParameterizedTest
    @MethodSource("faults")
    void tryLockKeepsItsDeadline(Fault fault) {
        DistributedReentrantLock lock = lock(session(), NAME);
        Actor actor = actor("actor");
        fault.begin(this);
        Duration wait = Duration.ofMillis(900);
        long begun = Monotonic.nanos();
        assertThatThrownBy(() -> actor.get(() -> lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)))
                .isInstanceOf(RedisUnavailableException.class);
        assertBetween(wait, wait.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - begun));
        long again = Monotonic.nanos();
        assertThatThrownBy(() -> actor.get(() -> lock.tryLock())).isInstanceOf(RedisUnavailableException.class);
        assertWithin(SHORT_TIMEOUT.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - again));
        assertThat(actor.get(lock::getHoldCount)).isZero();
        fault.end(this);
        assertWorks(lock, actor);
    }

    @ParameterizedTest
    @MethodSource("faults")
    void aWaitCanBeInterruptedDuringTheOutage(Fault fault) {
        DistributedReentrantLock lock = lock(session(), NAME);
        Actor actor = actor("actor");
        fault.begin(this);
        CompletableFuture<Boolean> wait = actor.begin(lock::lockInterruptibly);
        await("parked").until(() -> actor.thread().getState() == Thread.State.TIMED_WAITING);
        actor.interrupt();
        assertThat(wait)
                .failsWithin(SLACK)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(InterruptedException.class);
        fault.end(this);
        assertWorks(lock, actor);
    }

    /** unlock() doesn't fail and doesn't wait; the name is given up as soon as Redis is back. */
    @ParameterizedTest
    @MethodSource("faults")
    void unlockNeitherFailsNorHangs(Fault fault) {
        DistributedReentrantLock lock = lock(session(), NAME);
        Actor actor = actor("actor");
        actor.run(lock::lock);
        fault.begin(this);
        long begun = Monotonic.nanos();
        actor.run(lock::unlock);
        assertWithin(SHORT_TIMEOUT.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - begun));
        assertThat(lock.isLocked()).isFalse();
        fault.end(this);
        awaitFree(NAME);
        assertWorks(lock, actor);
    }

    /** What can't be released is repeated at a steady pace: an outage must not end in a storm. */
    @Test
    @Tag("proof")
    void aReleaseThatDoesNotGetThroughIsRepeatedAtASteadyPace() {
        DistributedReentrantLock lock = lock(session(), NAME);
        lock.lock();
        proxy().dropRequests(Requests.release(NAME), FaultProxy.ALWAYS, Loss.CUT);
        lock.unlock();
        long begun = Monotonic.nanos();
        long before = proxy().droppedRequests();
        int repeats = 6;
        await("repeats").until(() -> proxy().droppedRequests() - before >= repeats);
        // One attempt under way at a time, and the next when that has been silent for too long.
        assertThat(Duration.ofNanos(Monotonic.nanos() - begun))
                .isGreaterThan(Duration.ofMillis(250).multipliedBy(repeats - 2));
        proxy().heal();
        awaitFree(NAME);
    }

    /** An outage shorter than redisTimeout is waited out, by those who wait and by those who hold. */
    @ParameterizedTest
    @MethodSource("faults")
    void aShortOutageIsWaitedOut(Fault fault) {
        Recorder recorder = new Recorder();
        DistributedReentrantLock held = lock(session(builder -> builder.listener(recorder)), NAME);
        DistributedReentrantLock wanted = lock(session(), NAME);
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(held::lock);
        CompletableFuture<Boolean> entered = queue(waiter, wanted);
        fault.begin(this);
        holder.run(held::unlock);
        CompletableFuture<Boolean> back = holder.begin(held::lock);
        fault.end(this);
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(back).isNotDone();
        waiter.run(wanted::unlock);
        assertThat(back).succeedsWithin(PATIENCE);
        holder.run(held::unlock);
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
    }

    /** Redis grants what it is asked, but no answer comes back: what nobody can use is given back. */
    @Test
    void whatIsGrantedUnheardIsGivenBack() {
        DistributedReentrantLock lock = lock(failing(new Recorder()), NAME);
        Actor actor = actor("actor");
        proxy().dropReplies(words -> true, FaultProxy.ALWAYS, Loss.MUTE);
        assertThatThrownBy(() -> actor.run(lock::lock)).isInstanceOf(RedisUnavailableException.class);
        assertThat(actor.get(lock::getHoldCount)).isZero();
        proxy().heal();
        awaitFree(NAME);
        assertWorks(lock, actor);
    }

    @Test
    @Tag("proof")
    void everyOutageIsReportedOnce() {
        Recorder recorder = new Recorder();
        Interlock session = failing(recorder);
        List<DistributedReentrantLock> locks =
                IntStream.range(0, 5).mapToObj(i -> lock(session, "name-" + i)).toList();
        List<Actor> actors =
                IntStream.range(0, 5).mapToObj(i -> actor("actor-" + i)).toList();
        for (int outage = 1; outage <= 2; outage++) {
            Fault.STALLED.begin(this);
            List<CompletableFuture<Boolean>> waits = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                waits.add(actors.get(i).begin(locks.get(i)::lock));
            }
            waits.forEach(wait -> assertThat(wait).failsWithin(PATIENCE));
            Fault.STALLED.end(this);
            for (int i = 0; i < 5; i++) {
                assertWorks(locks.get(i), actors.get(i));
            }
            int soFar = outage;
            await("told").until(() -> recorder.count(Recorder.Kind.REACHABLE) == soFar);
            assertThat(recorder.count(Recorder.Kind.UNREACHABLE)).isEqualTo(soFar);
        }
        assertThat(recorder.of(Recorder.Kind.REACHABLE))
                .allSatisfy(event -> assertThat(event.nanos()).isGreaterThan(REDIS_TIMEOUT.toNanos()));
    }

    /** A restart that keeps the data costs a holder nothing. */
    @Test
    void aRestartThatKeepsTheDataCostsTheHolderNothing() {
        Recorder recorder = new Recorder();
        DistributedReentrantLock lock = lock(session(b -> b.listener(recorder).lease(Duration.ofSeconds(6))), NAME);
        lock.lock();
        server().restart();
        int before = recorder.count(Recorder.Kind.RENEWED);
        await("renewed").until(() -> recorder.count(Recorder.Kind.RENEWED) > before);
        lock.assertHeld();
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
        lock.unlock();
    }

    /** Data lost: the holder hears of it once, and tokens go on increasing. */
    @Test
    void dataLostMakesTheHolderHearOfIt() {
        Recorder recorder = new Recorder();
        DistributedReentrantLock lock = lock(session(b -> b.listener(recorder).lease(Duration.ofSeconds(3))), NAME);
        DistributedReentrantLock waiting = lock(session(), NAME);
        Actor waiter = actor("waiter");
        lock.lock();
        long token = lock.fencingToken();
        CompletableFuture<Boolean> entered = queue(waiter, waiting);
        server().command("FLUSHALL"); // is in the append-only file when the server comes back
        server().restart();
        await("told").until(() -> recorder.count(Recorder.Kind.LOST) == 1);
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::fencingToken).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(waiter.get(waiting::fencingToken)).isGreaterThan(token);
        long second = waiter.get(waiting::fencingToken);
        waiter.run(waiting::unlock);
        lock.lock();
        assertThat(lock.fencingToken()).isGreaterThan(second);
        lock.unlock();
        assertThat(recorder.count(Recorder.Kind.LOST)).isEqualTo(1);
    }

    /** The session that connect() opens, over a client of its own with Redisson's settings, keeps the same bounds. */
    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"KILLED", "STALLED"})
    @Tag("proof")
    void theClientOfConnectKeepsTheBounds(Fault fault) {
        Interlock session = closing(Interlock.builder()
                .uri(proxy().url())
                .commandTimeout(SHORT_TIMEOUT)
                .redisTimeout(REDIS_TIMEOUT)
                .open());
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock held = lock(session, "held");
        Actor actor = actor("actor");
        actor.run(held::lock);
        fault.begin(this);
        long begun = Monotonic.nanos();
        assertThatThrownBy(() -> actor.run(lock::lock)).isInstanceOf(RedisUnavailableException.class);
        assertBetween(
                REDIS_TIMEOUT.minusMillis(50),
                REDIS_TIMEOUT.plus(SHORT_TIMEOUT).plus(SLACK),
                Duration.ofNanos(Monotonic.nanos() - begun));
        actor.run(held::unlock);
        fault.end(this);
        awaitFree("held");
        assertWorks(lock, actor);
    }

    /**
     * There is nothing to be said about a lease that ends while its release waits for the confirmation: the local half
     * is free, all the same.
     */
    @Test
    void unlockReturnsThatIsNotConfirmedBeforeItsLeaseIsOver() {
        Interlock session = session(builder -> builder.lease(SHORT_LEASE).commandTimeout(PATIENCE));
        DistributedReentrantLock lock = free(lock(session, NAME));
        Actor owner = actor("owner");
        owner.run(lock::lock);
        proxy().refuse(true);
        proxy().cut();

        owner.run(lock::unlock);

        assertThat(owner.get(lock::isHeldByCurrentThread)).isFalse();
        proxy().heal();
        assertWorks(lock, owner);
    }
}
