package dev.interlock.semaphore.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedSemaphore;
import dev.interlock.testing.Actor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Redis crashes and goes back to an older copy of its data, while sessions that know better go on. */
@Tag("proof")
class SemaphoreOlderCopyTest {

    private abstract static class OlderCopies extends SemaphoreFaultFixture {
        private DistributedSemaphore semaphore;
        private Actor holder;

        @BeforeEach
        void use() {
            semaphore = of(session());
            holder = actor("holder");
            holder.run(semaphore::acquire);
        }

        /** What the copy knows nothing of is not there when it comes back. */
        @Test
        void permitsThatWereTakenSinceAreNoGain() {
            saveCopy();
            assertThat(holder.<Boolean>get(() -> semaphore.tryAcquire(2))).isTrue();
            goBack();
            assertThat(pool()).isEqualTo(2);
            holder.run(() -> semaphore.release(2));
            assertPool(2);
            holder.run(semaphore::release);
        }

        /** The session has nothing more to say, but says once more what it has said last. */
        @Test
        void permitsThatWereReleasedSinceAreNoLoss() {
            saveCopy();
            holder.run(semaphore::release);
            goBack();
            assertThat(pool()).isEqualTo(2);
            await("said once more").until(() -> pool() == PERMITS);
        }
    }

    @Nested
    class Owned extends OlderCopies {}

    @Nested
    class Unowned extends OlderCopies {
        @Override
        boolean owned() {
            return false;
        }
    }
}
