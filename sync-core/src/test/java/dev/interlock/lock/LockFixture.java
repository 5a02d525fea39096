package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;

/**
 * What {@link LockContract} and {@link ConditionContract} ask of a subclass, and the means its tests share.
 *
 * <p>A test that involves several threads runs once per {@link Contender}: against a thread that uses the same lock
 * object and, where {@link #rivalOf} knows one, against a thread of another session. One instance serves all tests of a
 * class, so that {@link #contenders()} can ask it; hence {@link #newLock()} and {@link #rivalOf} must work as soon as
 * {@code @BeforeAll} has run, before any {@code @BeforeEach}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
// In a thread of its own, since an interrupt wouldn't end a lock() that hangs.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class LockFixture {

    /** Who competes with the lock under test. */
    enum Contender {
        SAME_OBJECT,
        OTHER_SESSION
    }

    /** Where a lock may differ from {@link ReentrantLock}. A test touched by one asserts the difference instead. */
    enum Deviation {
        /** {@code newCondition()} throws an {@link UnsupportedOperationException} that gives the reason. */
        NO_CONDITIONS,
        /**
         * A signal reaches waiters of other sessions when the signaller leaves, or a second later. A waiter that is
         * interrupted before that leaves, and the signal goes to the next one.
         */
        SIGNAL_TRAVELS_WITH_RELEASE,
        /** Writing the lock to an object stream throws an {@link java.io.ObjectStreamException}. */
        NOT_SERIALIZABLE,
        /** {@code toString()} tells the state in the JDK's words, but isn't the JDK's to the letter. */
        TO_STRING_DIFFERS,
        /** The thread that waits for another session is missing in {@code hasQueuedThread(s)} and its kin. */
        REMOTE_WAITER_NOT_QUEUED,
        /** A fair lock is fair to the threads of one session, in any order to those of several. */
        NO_FIFO_ACROSS_SESSIONS,
        /** {@code tryLock()} may fail on a fair lock that was released to a waiter. */
        TRYLOCK_MAY_NOT_BARGE,
        /** Another session's {@code tryLock()} may fail for a short while after {@code unlock()}. */
        RELEASE_LINGERS,
        /** After a storm of interrupts and timeouts from two sessions, waiters may be stuck for minutes. */
        STUCK_AFTER_STORM
    }

    private static final Set<Thread.State> BLOCKED =
            EnumSet.of(Thread.State.BLOCKED, Thread.State.WAITING, Thread.State.TIMED_WAITING);

    private final List<Holder> holders = new ArrayList<>();
    private TestThreads threads;

    /** A lock that nobody has used and that no other test will use. */
    protected abstract ReentrantLock newLock();

    /** A lock object of another session that excludes with {@code lock}; the same, or an equal one, at every call. */
    protected Optional<ReentrantLock> rivalOf(ReentrantLock lock) {
        return Optional.empty();
    }

    /** Whether {@link #newLock()} makes fair locks. */
    protected boolean fair() {
        return false;
    }

    protected Set<Deviation> deviations() {
        return EnumSet.noneOf(Deviation.class);
    }

    /** The longest that anything may take which has to happen. */
    protected Duration patience() {
        return Duration.ofSeconds(20);
    }

    /** How long tests watch for what must not happen, and let a timeout run. No single operation takes so long. */
    protected Duration shortWait() {
        return Duration.ofMillis(40);
    }

    /** How many critical sections a test of exclusion lets several threads enter between them. */
    protected int crowd() {
        return 1_000;
    }

    /**
     * Returns once {@code waiter} waits for {@code lock}. That it's in the local queue proves it; where arrival
     * elsewhere matters too, it must have got there before it queues here. For a thread that waits for another session,
     * the evidence is that it has been blocked for {@link #shortWait()}; a subclass that can look into the remote queue
     * should do so.
     */
    protected void awaitWaiting(ReentrantLock lock, Thread waiter) {
        long[] blockedSince = {System.nanoTime()};
        await(waiter.getName() + " waits").until(() -> {
            Thread.State state = waiter.getState();
            assertThat(state).as(waiter.getName() + ", which should wait,").isNotEqualTo(Thread.State.TERMINATED);
            if (!BLOCKED.contains(state)) {
                blockedSince[0] = System.nanoTime();
            }
            return lock.hasQueuedThread(waiter)
                    || System.nanoTime() - blockedSince[0] >= shortWait().toNanos();
        });
    }

    @BeforeEach
    final void beginThreads() {
        threads = new TestThreads(patience());
    }

    @AfterEach
    final void endThreads() {
        holders.forEach(Holder::letGo);
        holders.clear();
        threads.close();
    }

    final TestThreads threads() {
        return threads;
    }

    final boolean deviates(Deviation deviation) {
        return deviations().contains(deviation);
    }

    final boolean fifo(Contender contender) {
        return fair() && (contender == Contender.SAME_OBJECT || !deviates(Deviation.NO_FIFO_ACROSS_SESSIONS));
    }

    /** Not a constant: without a rival the other half isn't there at all, rather than skipped. */
    final Stream<Contender> contenders() {
        return rivalOf(newLock()).isPresent() ? Stream.of(Contender.values()) : Stream.of(Contender.SAME_OBJECT);
    }

    final Stream<Arguments> contendersAndWaits() {
        return with(Acquisition.LOCK, Acquisition.LOCK_INTERRUPTIBLY, Acquisition.TIMED_TRY_LOCK);
    }

    final Stream<Arguments> contendersAndInterruptibleWaits() {
        return with(Acquisition.LOCK_INTERRUPTIBLY, Acquisition.TIMED_TRY_LOCK);
    }

    final Stream<Arguments> with(Object... ways) {
        return contenders().flatMap(contender -> Stream.of(ways).map(way -> Arguments.of(contender, way)));
    }

    /** The object through which a contender uses what {@code lock} guards. */
    final ReentrantLock sideOf(Contender contender, ReentrantLock lock) {
        return contender == Contender.SAME_OBJECT ? lock : rivalOf(lock).orElseThrow();
    }

    final ConditionFactory await(String what) {
        return Awaitility.await(what)
                .atMost(patience())
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1));
    }

    static void assertHeldHere(ReentrantLock lock, int holds) {
        assertThat(lock.isHeldByCurrentThread()).as("held by current thread").isTrue();
        assertThat(lock.getHoldCount()).as("hold count").isEqualTo(holds);
        assertThat(lock.isLocked()).as("locked").isTrue();
        assertThat(LockProbe.owner(lock)).as("owner").isSameAs(Thread.currentThread());
    }

    static void assertNotHeldHere(ReentrantLock lock) {
        assertThat(lock.isHeldByCurrentThread()).as("held by current thread").isFalse();
        assertThat(lock.getHoldCount()).as("hold count").isZero();
        assertThat(LockProbe.owner(lock)).as("owner").isNotSameAs(Thread.currentThread());
    }

    static void assertFree(ReentrantLock lock) {
        assertNotHeldHere(lock);
        assertThat(lock.isLocked()).as("locked").isFalse();
        assertThat(LockProbe.owner(lock)).as("owner").isNull();
    }

    static void assertNobodyQueued(ReentrantLock lock) {
        assertThat(lock.hasQueuedThreads()).as("has queued threads").isFalse();
        assertThat(lock.getQueueLength()).as("queue length").isZero();
        assertThat(LockProbe.queuedThreads(lock)).as("queued threads").isEmpty();
    }

    /** Asserts that a thread which hasn't used the lock yet gets it. */
    final void assertObtainable(ReentrantLock lock) {
        Running<Boolean> next = threads().start("next", () -> {
            assertThat(lock.tryLock(patience().toNanos(), TimeUnit.NANOSECONDS))
                    .as("obtained")
                    .isTrue();
            assertHeldHere(lock, 1);
            lock.unlock();
        });
        next.result();
        assertFree(lock);
    }

    /** Asserts that tryLock() by this thread succeeds, now that {@code contender} has released the lock. */
    final void assertTryLockSucceeds(ReentrantLock lock, Contender contender) {
        if (contender == Contender.OTHER_SESSION && deviates(Deviation.RELEASE_LINGERS)) {
            await("tryLock() succeeds").pollInSameThread().until(lock::tryLock);
        } else {
            assertThat(lock.tryLock()).as("tryLock() of a free lock").isTrue();
        }
        assertHeldHere(lock, 1);
    }

    /** Lets another thread take the lock, and returns once that holds it. */
    final Holder hold(ReentrantLock lock) {
        Holder holder = new Holder(lock);
        holders.add(holder);
        assertThat(Uninterruptibles.awaitUninterruptibly(holder.entered, patience()))
                .as("holder has entered")
                .isTrue();
        return holder;
    }

    /** A thread that holds a lock until it's told to let go; it fails if it no longer holds it by then. */
    final class Holder {
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch mayLeave = new CountDownLatch(1);
        private final Running<Boolean> running;

        private Holder(ReentrantLock lock) {
            running = threads().start("holder", () -> {
                lock.lock();
                try {
                    entered.countDown();
                    mayLeave.await();
                    assertHeldHere(lock, 1);
                } finally {
                    lock.unlock();
                }
                assertNotHeldHere(lock);
            });
        }

        Thread thread() {
            return running.thread();
        }

        /** False as long as the lock is certainly held: who enters while it's false has broken exclusion. */
        boolean isLeaving() {
            return mayLeave.getCount() == 0;
        }

        void letGo() {
            mayLeave.countDown();
        }

        /** Returns once the lock is released and the thread has died. */
        void release() {
            letGo();
            running.result();
        }
    }
}
