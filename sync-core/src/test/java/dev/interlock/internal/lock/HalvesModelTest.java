package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import java.util.concurrent.atomic.AtomicReference;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/** A half that is retired while threads take and release it, in all interleavings. */
class HalvesModelTest {
    @Test
    void aThreadReleasesWhatItHasTaken() {
        new ModelCheckingOptions()
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(0)
                .iterations(10)
                .invocationsPerIteration(1_000)
                .sequentialSpecification(AsItShouldBe.class)
                .check(Lost.class);
    }

    /** What it is to look like: nothing is thrown. */
    public static final class AsItShouldBe {
        /** Nothing to see. */
        public void enter() {}

        /** Nothing to see. */
        public void lose() {}
    }

    /** A lock that is lost again and again. */
    public static final class Lost {
        private final Halves<LocalLock> halves = new Halves<>(new Flag(), false, Flag::new, () -> 0);

        /** A thread enters and leaves, unless another one is inside. */
        @Operation
        public void enter() {
            if (halves.tryLock()) {
                halves.unlock();
            }
        }

        /** The lock is lost. */
        @Operation
        public void lose() {
            halves.retire(new LeaseLostException("stock", 7, "its lease is over"), halves::isHeld);
        }
    }

    /** The least that a half is. */
    private static final class Flag implements LocalLock {
        private final AtomicReference<Thread> owner = new AtomicReference<>();

        @Override
        public boolean tryLock() {
            return owner.compareAndSet(null, Thread.currentThread());
        }

        @Override
        public boolean tryLock(long waitNanos) {
            return tryLock();
        }

        @Override
        public void unlock() {
            if (!owner.compareAndSet(Thread.currentThread(), null)) {
                throw new IllegalMonitorStateException();
            }
        }

        @Override
        public int holds() {
            return owner.get() == Thread.currentThread() ? 1 : 0;
        }

        @Override
        public boolean isHeld() {
            return owner.get() != null;
        }

        @Override
        public boolean isWanted() {
            return false;
        }

        @Override
        public boolean isQueued(Thread thread) {
            return false;
        }

        @Override
        public boolean isAnnounced() {
            return false;
        }
    }
}
