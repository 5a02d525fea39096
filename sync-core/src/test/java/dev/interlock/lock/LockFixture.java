package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ContractFixture;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.Visitors.Visit;
import dev.interlock.testing.Visitors.Visitor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.provider.Arguments;

/**
 * What {@link LockContract} and {@link ConditionContract} ask of a subclass, and the means its tests share. Each test
 * is about {@link #lock}, which the thread of the test uses, and about its {@link #side} for the contender.
 */
abstract class LockFixture extends ContractFixture<ReentrantLock> {
    ReentrantLock lock;
    ReentrantLock side;
    private AtomicInteger inside = new AtomicInteger();

    /** A lock that nobody has used and that no other test will use. */
    protected abstract ReentrantLock newLock();

    @Override
    protected final ReentrantLock sample() {
        return newLock();
    }

    /**
     * Returns once {@code waiter} waits for {@code lock}. That it's in the local queue proves it; where arrival
     * elsewhere matters too, it must have got there before it queues here. For a thread that waits for another session,
     * the evidence is that it has been blocked for {@link #shortWait()}; a subclass that can look into the remote queue
     * should do so.
     */
    protected void awaitWaiting(ReentrantLock lock, Thread waiter) {
        awaitBlocked(waiter, () -> lock.hasQueuedThread(waiter));
    }

    @BeforeEach
    final void useNewLock() {
        inside = new AtomicInteger();
        lock = newLock();
        side = lock;
    }

    /** Begins a test against this contender. */
    final void against(Contender contender) {
        side = sideOf(contender, lock);
    }

    /** Begins a test in which this contender has the lock. */
    final Visitor heldBy(Contender contender) {
        against(contender);
        return hold(side);
    }

    final Stream<Arguments> contendersAndWaits() {
        return contendersWith(Acquisition.LOCK, Acquisition.LOCK_INTERRUPTIBLY, Acquisition.TIMED_TRY_LOCK);
    }

    final Stream<Arguments> contendersAndInterruptibleWaits() {
        return contendersWith(Acquisition.LOCK_INTERRUPTIBLY, Acquisition.TIMED_TRY_LOCK);
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
        visit("next", lock, Entry.within(patience())).leave();
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

    /** Lets another thread come. It fails if it gets in while another visitor is. */
    final Visitor visit(String name, ReentrantLock lock, Entry entry) {
        return visitors().visit(name, new Visit() {
            @Override
            public boolean enter() throws InterruptedException {
                return entry.into(lock);
            }

            @Override
            public void begin() {
                assertThat(inside.incrementAndGet()).as("visitors inside").isEqualTo(1);
                assertHeldHere(lock, 1);
            }

            @Override
            public void end() {
                assertHeldHere(lock, 1);
                inside.decrementAndGet();
            }

            @Override
            public void exit() {
                lock.unlock();
            }

            @Override
            public void outside() {
                assertNotHeldHere(lock);
            }
        });
    }

    /** Lets another thread take the lock, and returns once that holds it. */
    final Visitor hold(ReentrantLock lock) {
        return visit("holder", lock, Acquisition.LOCK::on).awaitIn();
    }

    /** Lets another thread come, and returns once it waits. */
    final Visitor queue(String name, ReentrantLock lock, Entry entry) {
        Visitor visitor = visit(name, lock, entry);
        awaitWaiting(lock, visitor.thread());
        return visitor;
    }
}
