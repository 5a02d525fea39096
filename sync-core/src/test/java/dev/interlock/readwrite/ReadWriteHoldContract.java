package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.lock.Acquisition;
import dev.interlock.lock.Entry;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.Visitors.Visitor;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Holding the views of a {@link ReentrantReadWriteLock}: free or again, in all orders; releasing; what it tells of
 * itself.
 */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class ReadWriteHoldContract extends ReadWriteLockFixture {

    private static final int DEEP = 500;
    private static final int LEAST_MAXIMUM = 65_535;

    @Test
    @DisplayName("a new lock is free, nobody waits for it, and it always has the same two views")
    void startsFree() {
        assertFree(lock);
        assertNobodyQueued(lock);
        assertThat(lock.readLock()).isSameAs(lock.readLock()).isNotNull();
        assertThat(lock.writeLock()).isSameAs(lock.writeLock()).isNotNull();
    }

    @Test
    @DisplayName("isFair() tells the policy the lock was made with")
    void tellsFairness() {
        assertThat(newLock().isFair()).isEqualTo(fair());
    }

    @ParameterizedTest
    @MethodSource("viewsAndWays")
    @DisplayName("every way to acquire a view of a free lock takes it for the calling thread, once, again and again")
    void acquiresFreeLock(View view, Acquisition way) throws InterruptedException {
        for (int cycle = 0; cycle < 20; cycle++) {
            assertThat(way.on(view.of(lock))).isTrue();
            view.assertHeld(lock, 1);
            assertNobodyQueued(lock);
            view.of(lock).unlock();
            assertFree(lock);
        }
        assertObtainable(lock);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("timed tryLock takes a view of a free lock whatever the timeout")
    void timedTryLockTakesFreeLock(View view) throws InterruptedException {
        for (TimeUnit unit : List.of(TimeUnit.NANOSECONDS, TimeUnit.SECONDS, TimeUnit.DAYS)) {
            for (long timeout : new long[] {0, -1, Long.MIN_VALUE, 1, Long.MAX_VALUE}) {
                ReentrantReadWriteLock lock = newLock();
                assertThat(view.of(lock).tryLock(timeout, unit))
                        .as("%d %s", timeout, unit)
                        .isTrue();
                view.assertHeld(lock, 1);
                view.of(lock).unlock();
                assertFree(lock);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("timed tryLock without a unit throws NullPointerException and changes nothing")
    void timedTryLockNeedsUnit(View view) {
        assertThatThrownBy(() -> tryLockWithoutUnit(lock, view)).isInstanceOf(NullPointerException.class);
        assertFree(lock);

        view.of(lock).lock();
        assertThatThrownBy(() -> tryLockWithoutUnit(lock, view)).isInstanceOf(NullPointerException.class);
        view.assertHeld(lock, 1);
        view.of(lock).unlock();
        assertObtainable(lock);
    }

    @SuppressWarnings("NullAway")
    private static void tryLockWithoutUnit(ReentrantReadWriteLock lock, View view) throws InterruptedException {
        view.of(lock).tryLock(1, null);
    }

    @ParameterizedTest
    @MethodSource("viewsAndWays")
    @DisplayName("who holds a view enters it again at once, every hold is counted, and the last release frees")
    void isReentrant(View view, Acquisition way) throws InterruptedException {
        for (int holds = 1; holds <= DEEP; holds++) {
            assertThat(way.on(view.of(lock))).isTrue();
            view.assertHeld(lock, holds);
        }
        for (int holds = DEEP; holds > 0; holds--) {
            view.assertHeld(lock, holds);
            view.of(lock).unlock();
        }
        assertFree(lock);
        assertObtainable(lock);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("a writer reads at once in every way, and releases both views in either order")
    void writerMayRead(Acquisition way) throws InterruptedException {
        for (List<View> releases : List.of(List.of(View.READ, View.WRITE), List.of(View.WRITE, View.READ))) {
            lock.writeLock().lock();
            assertThat(way.on(lock.readLock())).isTrue();
            assertHolds(lock, 1, 1);
            releases.get(0).of(lock).unlock();
            releases.get(1).assertHeld(lock, 1);
            releases.get(1).of(lock).unlock();
            assertFree(lock);
            assertObtainable(lock);
        }
    }

    @Test
    @DisplayName("holds of both views, taken and released in whatever order and way, add up in two counts")
    void nestsInAnyOrder() throws InterruptedException {
        Random random = new Random(20);
        Acquisition[] ways = Acquisition.values();
        int writes = 0;
        int reads = 0;
        for (int step = 0; step < 1_000; step++) {
            boolean enters = random.nextInt(10) < (writes + reads < 8 ? 6 : 3);
            View view = random.nextBoolean() ? View.READ : View.WRITE;
            Acquisition way = ways[random.nextInt(ways.length)];
            int holds = view == View.READ ? reads : writes;
            boolean upgrades = view == View.WRITE && writes == 0 && reads > 0;
            if (enters && upgrades) {
                assertThat(lock.writeLock().tryLock()).as("upgrade").isFalse();
            } else if (enters) {
                assertThat(way.on(view.of(lock))).isTrue();
                holds++;
            } else if (holds > 0) {
                view.of(lock).unlock();
                holds--;
            } else {
                assertThatThrownBy(view.of(lock)::unlock).isInstanceOf(IllegalMonitorStateException.class);
            }
            reads = view == View.READ ? holds : reads;
            writes = view == View.WRITE ? holds : writes;
            assertHolds(lock, writes, reads);
        }
        for (; reads > 0; reads--) {
            lock.readLock().unlock();
        }
        for (; writes > 0; writes--) {
            lock.writeLock().unlock();
        }
        assertFree(lock);
        assertObtainable(lock);
    }

    @Test
    @DisplayName("a reader can't become a writer: tryLock fails, at once or when its time is over, and it reads on")
    void readerCannotUpgrade() throws InterruptedException {
        lock.readLock().lock();
        lock.readLock().lock();

        assertThat(lock.writeLock().tryLock()).isFalse();
        assertHolds(lock, 0, 2);
        for (long timeout : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThat(lock.writeLock().tryLock(timeout, NANOS)).isFalse();
            assertHolds(lock, 0, 2);
        }
        assertThat(Entry.within(shortWait()).into(lock.writeLock())).isFalse();
        assertHolds(lock, 0, 2);

        assertNobodyQueued(lock);
        lock.readLock().unlock();
        lock.readLock().unlock();
        assertObtainable(lock);
    }

    @Test
    @DisplayName("getReadLockCount() counts the holds of all readers, getReadHoldCount() those of the caller")
    void countsReaders() {
        List<Visitor> others = List.of(hold(lock, View.READ), hold(lock, View.READ), hold(lock, View.READ));

        assertHolds(lock, 0, 0);
        assertThat(lock.getReadLockCount()).isEqualTo(3);
        lock.readLock().lock();
        lock.readLock().lock();
        assertHolds(lock, 0, 2);
        assertThat(lock.getReadLockCount()).isEqualTo(5);
        assertThat(lock.isWriteLocked()).isFalse();

        for (int left = 2; left >= 0; left--) {
            others.get(left).leave();
            assertThat(lock.getReadLockCount()).isEqualTo(left + 2);
        }
        lock.readLock().unlock();
        lock.readLock().unlock();
        assertFree(lock);
    }

    @Test
    @DisplayName("two locks have nothing to do with each other")
    void isIndependent() {
        ReentrantReadWriteLock another = newLock();

        lock.writeLock().lock();

        assertFree(another);
        assertObtainable(another);
        assertThatThrownBy(another.writeLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
        lock.readLock().lock();
        lock.writeLock().unlock();
        assertThatThrownBy(another.readLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertHolds(lock, 0, 1);
        lock.readLock().unlock();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("a view's unlock() without a hold throws IllegalMonitorStateException and leaves a usable lock")
    void unlockNeedsHold(View view) {
        assertRefusesUnlock(lock, view);
        assertFree(lock);
        assertObtainable(lock);

        view.of(lock).lock();
        view.of(lock).lock();
        view.of(lock).unlock();
        view.of(lock).unlock();
        assertRefusesUnlock(lock, view);

        assertFree(lock);
        assertObtainable(lock);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("to hold one view doesn't allow to release the other")
    void unlockNeedsHoldOfThatView(View held) {
        View other = held == View.READ ? View.WRITE : View.READ;
        held.of(lock).lock();

        assertRefusesUnlock(lock, other);

        held.assertHeld(lock, 1);
        held.of(lock).unlock();
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contendersAndViews")
    @DisplayName(
            "what others hold can't be released: both views throw IllegalMonitorStateException, the others stay in")
    void unlockNeedsHolder(Contender contender, View held) {
        Visitor holder = heldBy(contender, held);

        for (View view : View.values()) {
            assertRefusesUnlock(lock, view);
        }

        assertThat(lock.writeLock().tryLock()).isFalse();
        holder.leave();
        assertObtainable(lock);
    }

    private static void assertRefusesUnlock(ReentrantReadWriteLock lock, View view) {
        assertThatThrownBy(view.of(lock)::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("65,535 holds of a view are counted; one beyond the maximum throws Error and isn't")
    void holdCountDoesNotOverflow(View view) throws InterruptedException {
        int holds = 0;
        while (holds < LEAST_MAXIMUM) {
            view.of(lock).lock();
            holds++;
        }
        view.assertHeld(lock, holds);

        for (Acquisition way : Acquisition.values()) {
            // Later JDKs count further than any test can.
            try {
                assertThat(way.on(view.of(lock))).isTrue();
                holds++;
            } catch (Error e) {
                assertThat(e).isExactlyInstanceOf(Error.class).hasMessage("Maximum lock count exceeded");
            }
            view.assertHeld(lock, holds);
        }

        while (holds > 0) {
            view.of(lock).unlock();
            holds--;
        }
        assertFree(lock);
        assertObtainable(lock);
    }

    @Test
    @DisplayName(
            "toString() identifies the lock and tells both counts; of the views, how often read or by whom written")
    void describesItself() {
        assertDescribed(lock, "[Write locks = 0, Read locks = 0]", "[Read locks = 0]", "[Unlocked]");

        lock.writeLock().lock();
        lock.writeLock().lock();
        lock.readLock().lock();
        String me = "[Locked by thread " + Thread.currentThread().getName() + "]";
        assertDescribed(lock, "[Write locks = 2, Read locks = 1]", "[Read locks = 1]", me);
        lock.writeLock().unlock();
        lock.writeLock().unlock();
        Visitor reader = hold(lock, View.READ);
        assertDescribed(lock, "[Write locks = 0, Read locks = 2]", "[Read locks = 2]", "[Unlocked]");

        reader.leave();
        lock.readLock().unlock();
    }

    private void assertDescribed(ReentrantReadWriteLock lock, String ofLock, String ofReads, String ofWrites) {
        assertDescribed(lock, ofLock);
        assertDescribed(lock.readLock(), ofReads);
        assertDescribed(lock.writeLock(), ofWrites);
    }

    @Test
    @DisplayName("a deserialized lock is free, as fair as its original, and independent of it")
    void isSerializable() throws IOException, ClassNotFoundException {
        lock.writeLock().lock();
        lock.readLock().lock();

        copy(lock).ifPresent(copy -> {
            assertThat(copy.isFair()).isEqualTo(fair());
            assertFree(copy);
            assertObtainable(copy);
        });
        if (deviates(Deviation.NOT_SERIALIZABLE)) {
            copy(lock.readLock());
            copy(lock.writeLock());
        }

        assertHolds(lock, 1, 1);
        lock.writeLock().unlock();
        lock.readLock().unlock();
    }
}
