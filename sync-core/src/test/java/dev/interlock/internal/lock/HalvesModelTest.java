package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A half that is retired while threads take and release it, in all interleavings. */
@Tag("lincheck")
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
        private final Halves<LocalLock> halves =
                new Halves<>(new SpareLock(false), false, () -> new SpareLock(false), () -> 0);

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
}
