package dev.interlock.lock.faults;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A command whose answer is lost, late or repeated has the effect of one command: the owner's count is 1, one unlock
 * frees the name, nothing stays locked, and no caller hears of it.
 */
class LostReplyTest extends FaultFixture {
    private static final String NAME = "stock";

    /** How a thread acquires. */
    enum Way {
        LOCK,
        LOCK_INTERRUPTIBLY,
        TIMED_TRY_LOCK,
        FIXED_LEASE;

        boolean acquire(DistributedReentrantLock lock) throws InterruptedException {
            switch (this) {
                case LOCK -> lock.lock();
                case LOCK_INTERRUPTIBLY -> lock.lockInterruptibly();
                case TIMED_TRY_LOCK -> {
                    return lock.tryLock(10, TimeUnit.SECONDS);
                }
                case FIXED_LEASE -> lock.lock(20, TimeUnit.SECONDS);
            }
            return true;
        }
    }

    /** What is lost on a silent connection is repeated after a time-out. */
    @Override
    protected Duration commandTimeout() {
        return SHORT_TIMEOUT;
    }

    /** What becomes of the connections. */
    Stream<Loss> losses() {
        return Stream.of(Loss.CUT);
    }

    Stream<Arguments> waysAndLosses() {
        return Stream.of(Way.values()).flatMap(way -> losses().map(loss -> Arguments.of(way, loss)));
    }

    private void assertFreedByOneUnlock(DistributedReentrantLock lock, Interlock session) {
        assertThat(holder(NAME)).matches(session.id() + ":\\d+=1");
        assertThat(lock.getHoldCount()).isEqualTo(1);
        lock.unlock();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        awaitFree(NAME);
    }

    private void assertAvailable(Interlock to) {
        DistributedReentrantLock lock = lock(to, NAME);
        Actor other = actor("other");
        assertThat(other.get(() -> lock.tryLock(PROMPTLY.toMillis(), TimeUnit.MILLISECONDS)))
                .as("another session gets it")
                .isTrue();
        other.run(lock::unlock);
    }

    @ParameterizedTest
    @MethodSource("waysAndLosses")
    void anAcquisitionWhoseReplyIsLostCountsOnce(Way way, Loss loss) throws InterruptedException {
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        proxy().dropReplies(Requests.acquire(NAME), 1, loss);
        long start = System.nanoTime();
        assertThat(way.acquire(lock)).isTrue();
        assertWithin(REPEATED, Duration.ofNanos(System.nanoTime() - start));
        assertThat(dropped()).isPositive();
        assertFreedByOneUnlock(lock, session);
        assertAvailable(undisturbed());
    }

    /** An untimed tryLock has one command time-out. What it can't report as its own it doesn't leave locked. */
    @ParameterizedTest
    @MethodSource("losses")
    void aTryLockWhoseReplyIsLostEitherHasItOrLeavesNothing(Loss loss) {
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        proxy().dropReplies(Requests.acquire(NAME), 1, loss);
        boolean locked;
        try {
            locked = lock.tryLock();
        } catch (RedisUnavailableException e) {
            locked = false;
        }
        assertThat(lock.isHeldByCurrentThread()).isEqualTo(locked);
        if (locked) {
            assertFreedByOneUnlock(lock, session);
        }
        assertAvailable(undisturbed());
    }

    /** The same while it waits behind another session: its place is kept, and it is granted once. */
    @ParameterizedTest
    @MethodSource("losses")
    void aPlaceInTheQueueSurvivesALostReply(Loss loss) {
        Interlock first = undisturbed();
        Interlock second = session();
        DistributedReentrantLock held = lock(first, NAME);
        DistributedReentrantLock wanted = lock(second, NAME);
        held.lock();
        proxy().dropReplies(Requests.acquire(NAME), 1, loss);
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = waiter.begin(wanted::lock);
        await("lost").until(() -> dropped() > 0);
        awaitTickets(NAME, 1);
        held.unlock();
        assertThat(entered).succeedsWithin(REPEATED);
        waiter.run(() -> assertFreedByOneUnlock(wanted, second));
    }

    @ParameterizedTest
    @MethodSource("losses")
    void aReleaseWhoseReplyIsLostReleasesOnce(Loss loss) {
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        lock.lock();
        long token = lock.fencingToken();
        proxy().dropReplies(Requests.release(NAME), 1, loss);
        long start = System.nanoTime();
        lock.unlock();
        assertWithin(SHORT_TIMEOUT.plus(SLACK), Duration.ofNanos(System.nanoTime() - start));
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        // The repeated release must not end what comes next.
        start = System.nanoTime();
        lock.lock();
        assertWithin(REPEATED, Duration.ofNanos(System.nanoTime() - start));
        assertThat(lock.fencingToken()).isGreaterThan(token);
        String owner = holder(NAME);
        assertThat(owner).matches(session.id() + ":\\d+=1");
        await("command time-outs and repetitions")
                .during(SHORT_TIMEOUT.multipliedBy(3))
                .until(() -> holder(NAME).equals(owner));
        lock.assertHeld();
        assertFreedByOneUnlock(lock, session);
        assertAvailable(undisturbed());
    }

    @ParameterizedTest
    @MethodSource("losses")
    @Tag("proof")
    void aRenewalWhoseReplyIsLostCostsNothing(Loss loss) {
        Recorder recorder = new Recorder();
        Interlock session =
                session(builder -> builder.lease(Duration.ofSeconds(3)).listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        proxy().dropReplies(Requests.renew(NAME), 1, loss);
        lock.lock();
        await("lost").until(() -> dropped() > 0);
        int before = recorder.count(Recorder.Kind.RENEWED);
        await("renewed again").until(() -> recorder.count(Recorder.Kind.RENEWED) > before);
        lock.assertHeld();
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
        assertFreedByOneUnlock(lock, session);
    }
}
