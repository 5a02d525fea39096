package dev.interlock.lock.faults;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.session.Session;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A command whose answer is lost, late or repeated has the effect of one command: the owner's count is 1, one unlock
 * frees the name, nothing stays locked, and no caller hears of it.
 */
class LostReplyTest extends FaultFixture {
    private static final String NAME = "stock";

    /**
     * After that a waiter is dead of whom nothing was heard; with that a lease begins that somebody else's release
     * grants.
     */
    private static final Duration HEARTBEAT = Duration.ofSeconds(3);

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

    /** Answers and requests are late by more than one time-out, or their connection is silent until then. */
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

    /** A waiter whose questions are lost on a mute connection is not taken to be dead: it is heard of in time. */
    @Test
    @Tag("proof")
    void aLostInquiryDoesNotMakeAWaiterDead() {
        DistributedReentrantLock held = lock(undisturbed(), NAME);
        Interlock second = session(builder -> builder.commandTimeout(HEARTBEAT));
        DistributedReentrantLock wanted = lock(second, NAME);
        held.lock();
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = queue(waiter, wanted);
        proxy().dropRequests(Requests.acquire(NAME), 1, Loss.MUTE);
        await("lost").until(() -> proxy().droppedRequests() > 0);
        await("time for its heartbeat to end")
                .failFast("taken to be dead", () -> isOverdue(second))
                .during(HEARTBEAT.minusMillis(200))
                .until(() -> true);
        held.unlock();
        assertThat(entered).succeedsWithin(PROMPTLY);
        waiter.run(() -> assertFreedByOneUnlock(wanted, second));
    }

    private boolean isOverdue(Interlock session) {
        return Keyspace.in(server()).isOverdue(NAME, session.id());
    }

    /** The first renewals of a lease that began short are answered to nobody: another one comes in time. */
    @ParameterizedTest
    @MethodSource("losses")
    @Tag("proof")
    void theFirstRenewalsOfAShortLeaseMayGetLost(Loss loss) {
        Recorder recorder = new Recorder();
        DistributedReentrantLock held = lock(undisturbed(), NAME);
        Interlock second = session(builder -> builder.commandTimeout(HEARTBEAT).listener(recorder));
        DistributedReentrantLock wanted = lock(second, NAME);
        held.lock();
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = queue(waiter, wanted);
        proxy().dropReplies(Requests.renew(NAME), 2, loss);
        held.unlock();
        assertThat(entered).succeedsWithin(PROMPTLY);
        await("lost").until(() -> dropped() > 1);
        await("renewed, or lost")
                .until(() -> recorder.count(Recorder.Kind.RENEWED) + recorder.count(Recorder.Kind.LOST) > 0);
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
        waiter.run(() -> assertFreedByOneUnlock(wanted, second));
    }

    /** A lease that began short is renewed by the next beat, also if its grant was not told but found. */
    @Test
    void aGrantThatIsFoundIsRenewedAtOnce() {
        Recorder recorder = new Recorder();
        DistributedReentrantLock held = lock(undisturbed(), NAME);
        // Nothing becomes due as time goes by.
        long now = System.nanoTime();
        Interlock second = session(builder -> builder.ticker(() -> now).listener(recorder));
        DistributedReentrantLock wanted = lock(second, NAME);
        held.lock();
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = queue(waiter, wanted);
        releaseUntold(held, second, entered);
        await("renewed").until(() -> recorder.count(Recorder.Kind.RENEWED) > 0);
        waiter.run(() -> assertFreedByOneUnlock(wanted, second));
    }

    /** A grant of which its session isn't told is found by the pulse. */
    @Test
    void aLostGrantCostsAPulse() {
        DistributedReentrantLock held = lock(undisturbed(), NAME);
        Interlock second = session();
        DistributedReentrantLock wanted = lock(second, NAME);
        held.lock();
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = queue(waiter, wanted);
        releaseUntold(held, second, entered);
        waiter.run(() -> assertFreedByOneUnlock(wanted, second));
    }

    /** Releases a lock, without the session that gets it being told. */
    private void releaseUntold(DistributedReentrantLock held, Interlock next, CompletableFuture<Boolean> entered) {
        proxy().dropMessages(Requests.grant(next), 1);
        held.unlock();
        assertThat(entered).succeedsWithin(PROMPTLY);
    }

    /** Whoever comes late to a name that its caller has given up finds the door closed. */
    @Test
    void aRequestThatArrivesAfterItsCallerGaveUpIsRefused() {
        Interlock second = session();
        DistributedReentrantLock wanted = lock(second, NAME);
        Duration late = SHORT_TIMEOUT.multipliedBy(3);
        proxy().delayRequests(Requests.acquire(NAME).and(Requests.of(second)), late, 1);
        long executed = acquisitions();
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = waiter.ask(() -> wanted.tryLock(150, TimeUnit.MILLISECONDS));
        await("gave up").until(entered::isDone);
        assertThat(wanted.isLocked()).isFalse();
        if (!entered.isCompletedExceptionally() && entered.join()) {
            waiter.run(wanted::unlock);
        }
        await("arrived late").until(() -> acquisitions() > executed);
        awaitFree(NAME);
        assertAvailable(undisturbed());
    }

    /** The same behind a holder: what arrives late doesn't stand in the queue. */
    @Test
    void aRequestThatArrivesAfterItsCallerGaveUpDoesNotQueue() {
        DistributedReentrantLock held = lock(undisturbed(), NAME);
        held.lock();
        Interlock second = session();
        DistributedReentrantLock wanted = lock(second, NAME);
        proxy().delayRequests(Requests.acquire(NAME).and(Requests.of(second)), SHORT_TIMEOUT.multipliedBy(3), 1);
        long executed = acquisitions();
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = waiter.ask(() -> wanted.tryLock(150, TimeUnit.MILLISECONDS));
        await("gave up").until(entered::isDone);
        await("arrived late").until(() -> acquisitions() > executed);
        assertThat(tickets(NAME)).isZero();
        held.unlock();
        awaitFree(NAME);
    }

    /** Of the scripts, only that one reads the mark without writing it. */
    private long acquisitions() {
        return server().commandCalls("get");
    }

    /** Repeats of every command, long after their tenure, change nothing for whoever holds the name by then. */
    @Test
    void lateDuplicatesChangeNothing() {
        Interlock session = session(builder -> builder.lease(Duration.ofMillis(1_500)));
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Recorder recorder = new Recorder();
        Duration later = Duration.ofMillis(1_200);
        proxy().duplicateRequests(Requests.acquire(NAME), later, 1);
        proxy().duplicateRequests(Requests.release(NAME), later, 1);
        proxy().duplicateRequests(Requests.renew(NAME), later, 1);
        lock.lock();
        await("a renewal").until(() -> pttl(NAME) < 1_100);
        await("a renewal").until(() -> pttl(NAME) > 1_100);
        lock.unlock();
        other.lock();
        String owner = holder(NAME);
        await("duplicates").until(() -> proxy().duplicated() == 3);
        assertThat(holder(NAME)).isEqualTo(owner);
        assertThat(tickets(NAME)).isZero();
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
        other.assertHeld();
        other.unlock();
        awaitFree(NAME);
        lock.lock();
        assertFreedByOneUnlock(lock, session);
    }

    /** A release that arrives after the next acquisition of the same session ends only what it was meant for. */
    @Test
    void aReleaseThatIsOvertakenByTheNextAcquisitionDoesNotEndIt() {
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        lock.lock();
        Duration late = SHORT_TIMEOUT.multipliedBy(3);
        proxy().delayRequests(Requests.release(NAME), late, 1);
        lock.unlock();
        lock.lock();
        String owner = holder(NAME);
        assertThat(owner).matches(session.id() + ":\\d+=1");
        await("the late releases")
                .during(late.plus(SHORT_TIMEOUT))
                .until(() -> holder(NAME).equals(owner));
        lock.assertHeld();
        proxy().heal();
        assertFreedByOneUnlock(lock, session);
    }

    /** A release that comes late doesn't undo the cancellation of what was asked for after it. */
    @Test
    @Tag("proof")
    void aCancelledRequestStaysCancelledWhateverReleaseArrivesBeforeIt() {
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        lock.lock();
        long sequence = Long.parseLong(holder(NAME).replaceAll(".*:(\\d+)=1", "$1"));
        Duration late = Duration.ofMillis(1_500);
        proxy().delayRequests(Requests.release(NAME).and(Requests.of(session, sequence)), late, FaultProxy.ALWAYS);
        proxy().delayRequests(
                        Requests.acquire(NAME).and(Requests.of(session, sequence + Session.SEQUENCE_STEP)),
                        late.multipliedBy(2),
                        FaultProxy.ALWAYS);
        lock.unlock();
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = waiter.ask(() -> lock.tryLock(100, TimeUnit.MILLISECONDS));
        await("gave up").until(entered::isDone);
        awaitFree(NAME);
        await("the late request")
                .during(late.multipliedBy(2).plus(SHORT_TIMEOUT))
                .until(() -> holder(NAME).isEmpty());
    }

    /**
     * A fixed lease on a kept tenure is a new request that continues it. If that never arrives and its thread gives up,
     * the tenure that it should have continued is given up as well.
     */
    @ParameterizedTest
    @MethodSource("losses")
    @Tag("proof")
    void aTenureWhoseContinuationIsLostIsGivenUp(Loss loss) {
        DistributedReentrantLock lock = lock(session(), NAME);
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(lock::lock);
        CompletableFuture<Boolean> entered = waiter.ask(() -> lock.tryLock(1, 20, TimeUnit.SECONDS));
        awaitQueued(lock, waiter);
        proxy().dropRequests(Requests.acquire(NAME), FaultProxy.ALWAYS, loss);
        holder.run(lock::unlock);
        await("gave up").until(entered::isDone);
        proxy().heal();
        assertThat(lock.isLocked()).isFalse();
        assertAvailable(undisturbed());
    }

    /** Answers that belong to nobody any more must not be taken for those of the next thread. */
    @Test
    void lateAnswersAreNotTakenForThoseOfTheNextThread() {
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor waiter = actor("waiter");
        other.lock();
        for (int round = 0; round < 5; round++) {
            proxy().delayReplies(Requests.acquire(NAME).or(Requests.release(NAME)), Duration.ofMillis(350), 2);
            waiter.ask(() -> lock.tryLock(60, TimeUnit.MILLISECONDS));
            assertThat(waiter.get(lock::isHeldByCurrentThread)).isFalse();
        }
        CompletableFuture<Boolean> entered = waiter.ask(() -> lock.tryLock(10, TimeUnit.SECONDS));
        awaitTickets(NAME, 1);
        other.unlock();
        assertThat(entered).succeedsWithin(PATIENCE).isEqualTo(true);
        waiter.run(() -> assertFreedByOneUnlock(lock, session));
        assertThat(List.of(lock.getQueueLength(), tickets(NAME))).containsOnly(0);
    }
}
