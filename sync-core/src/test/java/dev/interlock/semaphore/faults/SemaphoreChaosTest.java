package dev.interlock.semaphore.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Loss;
import dev.interlock.testing.RespError;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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
        private static final Duration BETWEEN_FAULTS = Duration.ofMillis(60);
        private static final Duration LATE = Duration.ofMillis(300);

        /** All that a thread may need at the end, when the network is well again. */
        private static final Duration END = Duration.ofSeconds(15);

        private final TestReporter reporter;
        private final AtomicBoolean stop = new AtomicBoolean();
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
            stop.set(false);
            List<AtomicLong> passages = new ArrayList<>();
            List<Actor> actors = new ArrayList<>();
            List<CompletableFuture<Boolean>> threads = new ArrayList<>();
            for (int i = 0; i < SESSIONS; i++) {
                Interlock session = session();
                DistributedSemaphore semaphore = of(session);
                for (int k = 0; k < THREADS; k++) {
                    Actor actor = actor("actor-" + i + "-" + k);
                    actors.add(actor);
                    AtomicLong count = new AtomicLong();
                    passages.add(count);
                    threads.add(actor.begin(() -> {
                        while (!stop.get()) {
                            if (pass(semaphore)) {
                                count.incrementAndGet();
                            }
                        }
                    }));
                }
            }
            long start = System.nanoTime();
            while (System.nanoTime() - start < time.toNanos()
                    && threads.stream().noneMatch(CompletableFuture::isCompletedExceptionally)) {
                begin(ThreadLocalRandom.current().nextInt(8));
                actors.get(ThreadLocalRandom.current().nextInt(actors.size())).interrupt();
                await("some time").pollDelay(BETWEEN_FAULTS).until(() -> true);
            }
            proxy().heal();
            await("passages of all threads")
                    .atMost(END)
                    .until(() -> passages.stream().allMatch(count -> count.get() > 0)
                            || threads.stream().anyMatch(CompletableFuture::isCompletedExceptionally));
            stop.set(true);
            for (CompletableFuture<Boolean> thread : threads) {
                assertThat(thread).succeedsWithin(END);
            }
            reporter.publishEntry("passages of each thread: " + passages);
            assertThat(passages).allSatisfy(count -> assertThat(count.get()).isPositive());
            assertThat(inUse).hasValue(0);
            assertPool(PERMITS);
        }

        private void begin(int fault) {
            switch (fault) {
                case 0 -> proxy().cut();
                case 1 -> proxy().dropReplies(SemaphoreFaultFixture::isSaid, 1, Loss.CUT);
                case 2 -> proxy().dropReplies(SemaphoreFaultFixture::isSaid, 1, Loss.MUTE);
                case 3 -> proxy().dropRequests(SemaphoreFaultFixture::isSaid, 1, Loss.CUT);
                case 4 -> proxy().delayRequests(SemaphoreFaultFixture::isSaid, LATE, 1);
                case 5 -> proxy().duplicateRequests(SemaphoreFaultFixture::isSaid, LATE, 3);
                case 6 -> proxy().dropMessages(SemaphoreFaultFixture::isMessage, 2);
                default -> killMailboxesOrScripts();
            }
        }

        private void killMailboxesOrScripts() {
            if (ThreadLocalRandom.current().nextBoolean()) {
                server().command("SCRIPT", "FLUSH");
                return;
            }
            try {
                server().command("CLIENT", "KILL", "TYPE", "pubsub");
            } catch (RespError e) {
                // Nobody is subscribed: killed before, and not back yet.
                assertThat(e.getMessage()).contains("No such client");
            }
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
