package dev.interlock.semaphore.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedSemaphore;
import dev.interlock.RedisUnavailableException;
import dev.interlock.lock.faults.Rage;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

/**
 * Threads of three sessions acquire permits, one way and another, over a network that fails all the time, and are
 * interrupted at any moment. Never are more in use than there are, nobody hangs, and in the end exactly all are there.
 */
class SemaphoreChaosTest {

    private abstract static class Chaos extends SemaphoreFaultFixture {
        private static final int SESSIONS = 3;
        private static final int THREADS = 3;
        private static final Duration QUICK = Duration.ofSeconds(3);

        private final TestReporter reporter;
        private final AtomicInteger inUse = new AtomicInteger();

        Chaos(TestReporter reporter) {
            this.reporter = reporter;
        }

        @Test
        void nothingIsLostOrGainedAndNobodyHangs() {
            rage(QUICK);
        }

        @Test
        @Tag("soak")
        @Timeout(value = 1, unit = TimeUnit.DAYS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
        void soak() {
            rage(Duration.ofSeconds(Long.getLong("interlock.soak.seconds", 120)));
        }

        private void rage(Duration time) {
            Rage rage = new Rage(this, SemaphoreFaultFixture::isSaid);
            for (int i = 0; i < SESSIONS; i++) {
                DistributedSemaphore semaphore = of(session());
                for (int k = 0; k < THREADS; k++) {
                    rage.start("actor-" + i + "-" + k, () -> pass(semaphore));
                }
            }
            rage.disturbAndInterrupt(time);
            reporter.publishEntry("passages of each thread: " + rage.end());
            assertThat(inUse).hasValue(0);
            assertPool(PERMITS);
        }

        private boolean pass(DistributedSemaphore semaphore) {
            int permits = 1 + ThreadLocalRandom.current().nextInt(PERMITS);
            if (!enters(semaphore, permits)) {
                return false;
            }
            assertThat(inUse.addAndGet(permits)).as("permits in use").isLessThanOrEqualTo(PERMITS);
            LockSupport.parkNanos(1_000);
            inUse.addAndGet(-permits);
            semaphore.release(permits);
            return true;
        }

        private static boolean enters(DistributedSemaphore semaphore, int permits) {
            try {
                switch (ThreadLocalRandom.current().nextInt(6)) {
                    case 0 -> {
                        return semaphore.tryAcquire(permits);
                    }
                    case 1 -> {
                        return semaphore.tryAcquire(permits, 2, TimeUnit.MILLISECONDS);
                    }
                    case 2 -> semaphore.acquire(permits);
                    case 3 -> {
                        return semaphore.tryAcquire(permits, 50, TimeUnit.SECONDS);
                    }
                    default -> semaphore.acquireUninterruptibly(permits);
                }
                return true;
            } catch (InterruptedException | RedisUnavailableException e) {
                return false;
            }
        }
    }

    @Nested
    class Owned extends Chaos {
        Owned(TestReporter reporter) {
            super(reporter);
        }
    }

    @Nested
    class Unowned extends Chaos {
        Unowned(TestReporter reporter) {
            super(reporter);
        }

        @Override
        boolean owned() {
            return false;
        }
    }
}
