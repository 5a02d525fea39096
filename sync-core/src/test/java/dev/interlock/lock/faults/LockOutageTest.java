package dev.interlock.lock.faults;

import static dev.interlock.testing.TooLate.assertBetween;
import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.Outage;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a lock keeps to while Redis is gone: deadlines, interrupts, a release that returns, one report. */
class LockOutageTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(3);

    /** So short that its end can be awaited. */
    private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

    /** Each test waits for commands to time out. */
    @Override
    protected Duration commandTimeout() {
        return SHORT_TIMEOUT;
    }

    @Override
    protected List<String> serverArguments() {
        return Outage.serverArguments();
    }

    private void begin(Outage outage) {
        outage.begin(List.of(server()), List.of(proxy()));
    }

    private void end(Outage outage) {
        outage.end(List.of(server()), List.of(proxy()));
    }

    private Interlock failing(Recorder recorder) {
        return session(builder -> builder.redisTimeout(REDIS_TIMEOUT).listener(recorder));
    }

    private static void assertWorks(DistributedReentrantLock lock, Actor by) {
        await("works again").ignoreExceptions().until(() -> by.get(() -> lock.tryLock(1, TimeUnit.SECONDS)));
        by.run(lock::assertHeld);
        by.run(lock::unlock);
    }

    /** A timed tryLock keeps its own deadline, an untimed one has one command time-out. */
    @ParameterizedTest
    @EnumSource(names = {"KILLED", "STALLED"})
    void tryLockKeepsItsDeadline(Outage outage) {
        DistributedReentrantLock lock = lock(session(), NAME);
        Actor actor = actor("actor");
        begin(outage);
        Duration wait = Duration.ofMillis(900);
        long begun = Monotonic.nanos();
        assertThatThrownBy(() -> actor.get(() -> lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)))
                .isInstanceOf(RedisUnavailableException.class);
        assertBetween(wait, wait.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - begun));
        long again = Monotonic.nanos();
        assertThatThrownBy(() -> actor.get(() -> lock.tryLock())).isInstanceOf(RedisUnavailableException.class);
        assertWithin(SHORT_TIMEOUT.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - again));
        assertThat(actor.get(lock::getHoldCount)).isZero();
        end(outage);
        assertWorks(lock, actor);
    }

    @ParameterizedTest
    @EnumSource(names = {"KILLED", "STALLED"})
    void aWaitCanBeInterruptedDuringTheOutage(Outage outage) {
        DistributedReentrantLock lock = lock(session(), NAME);
        Actor actor = actor("actor");
        begin(outage);
        CompletableFuture<Boolean> wait = actor.begin(lock::lockInterruptibly);
        await("parked").until(() -> actor.thread().getState() == Thread.State.TIMED_WAITING);
        actor.interrupt();
        assertThat(wait)
                .failsWithin(SLACK)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(InterruptedException.class);
        end(outage);
        assertWorks(lock, actor);
    }

    /** unlock() doesn't fail and doesn't wait; the name is given up as soon as Redis is back. */
    @ParameterizedTest
    @EnumSource(names = {"KILLED", "STALLED"})
    void unlockNeitherFailsNorHangs(Outage outage) {
        DistributedReentrantLock lock = lock(session(), NAME);
        Actor actor = actor("actor");
        actor.run(lock::lock);
        begin(outage);
        long begun = Monotonic.nanos();
        actor.run(lock::unlock);
        assertWithin(SHORT_TIMEOUT.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - begun));
        assertThat(lock.isLocked()).isFalse();
        end(outage);
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
            proxy().stall();
            List<CompletableFuture<Boolean>> waits = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                waits.add(actors.get(i).begin(locks.get(i)::lock));
            }
            waits.forEach(wait -> assertThat(wait).failsWithin(PATIENCE));
            proxy().heal();
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

    /** The session that connect() opens, over a client of its own with Redisson's settings, keeps the same bounds. */
    @ParameterizedTest
    @EnumSource(names = {"KILLED", "STALLED"})
    @Tag("proof")
    void theClientOfConnectKeepsTheBounds(Outage outage) {
        Interlock session = closing(Interlock.builder()
                .uri(proxy().url())
                .commandTimeout(SHORT_TIMEOUT)
                .redisTimeout(REDIS_TIMEOUT)
                .open());
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock held = lock(session, "held");
        Actor actor = actor("actor");
        actor.run(held::lock);
        begin(outage);
        long begun = Monotonic.nanos();
        assertThatThrownBy(() -> actor.run(lock::lock)).isInstanceOf(RedisUnavailableException.class);
        assertBetween(
                REDIS_TIMEOUT.minusMillis(50),
                REDIS_TIMEOUT.plus(SHORT_TIMEOUT).plus(SLACK),
                Duration.ofNanos(Monotonic.nanos() - begun));
        actor.run(held::unlock);
        end(outage);
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
