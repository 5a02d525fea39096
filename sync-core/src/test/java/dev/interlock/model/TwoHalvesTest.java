package dev.interlock.model;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.LockSync;
import java.util.concurrent.locks.Lock;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * No update is lost and no thread hangs when the threads of two sessions lock one name, in the interleavings that
 * Lincheck's model checker looks at: a counter that both halves protect is linearizable.
 */
@Tag("lincheck")
class TwoHalvesTest {

    @Test
    void losesNoUpdate() {
        options().check(Sound.class);
    }

    @Test
    void findsRemoteHalfThatDoesNotExclude() {
        assertThatThrownBy(() -> options().minimizeFailedScenario(false).check(TwoOwners.class))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("Invalid execution results");
    }

    @Test
    void findsTenureThatIsNeverGivenUp() {
        assertThatThrownBy(() -> options().check(Kept.class))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("deadlock");
    }

    private static ModelCheckingOptions options() {
        return new ModelCheckingOptions()
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .iterations(5)
                .invocationsPerIteration(300)
                .sequentialSpecification(Counter.class);
    }

    /** What it is to look like. */
    public static final class Counter {
        private int count;

        /** Counts. */
        public int first() {
            return count++;
        }

        /** Counts. */
        public int second() {
            return count++;
        }

        /** Counts. */
        public int barging() {
            return count++;
        }
    }

    /** A counter that nothing but the lock protects. */
    public abstract static class Counted {
        private final LockSync first;
        private final LockSync second;
        private int count;

        Counted(boolean excludes, boolean releases) {
            MemoryLock.Name name = new MemoryLock.Name(excludes);
            first = exclusion(name, releases);
            second = exclusion(name, releases);
        }

        private static LockSync exclusion(MemoryLock.Name name, boolean releases) {
            var local = new Halves<>(new UnsharedLock(), false, UnsharedLock::new, () -> 0);
            return new LockSync(local, new MemoryLock(name, local, releases));
        }

        private int countBy(Lock lock, boolean isBarging) {
            if (!isBarging || !lock.tryLock()) {
                lock.lock();
            }
            try {
                return count++;
            } finally {
                lock.unlock();
            }
        }

        /** Counts by the first session. */
        @Operation
        public int first() {
            return countBy(first, false);
        }

        /** Counts by the second session. */
        @Operation
        public int second() {
            return countBy(second, false);
        }

        /** Counts by the first session, past its queue if that is possible. */
        @Operation
        public int barging() {
            return countBy(first, true);
        }
    }

    /** As it should be. */
    public static final class Sound extends Counted {
        /** Creates it. */
        public Sound() {
            super(true, true);
        }
    }

    /** A name that both sessions may own. */
    public static final class TwoOwners extends Counted {
        /** Creates it. */
        public TwoOwners() {
            super(false, true);
        }
    }

    /** A session that keeps what it owns for good. */
    public static final class Kept extends Counted {
        /** Creates it. */
        public Kept() {
            super(true, false);
        }
    }
}
