package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.RespError;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * All the faults in any order, while the threads of three sessions contend. None of them lasts as long as a lease, so
 * no lock may be lost: exclusion is strict, tokens increase, every lock() comes back, and afterwards nothing is left.
 */
class ChaosTest extends FaultFixture {
    private static final int SESSIONS = 3;
    private static final int NAMES = 2;
    private static final int THREADS = 4;

    /** What a lock protects. */
    private static final class Guarded {
        private final AtomicReference<Thread> inside = new AtomicReference<>();
        private final AtomicLong lastToken = new AtomicLong();
        private final AtomicLong entries = new AtomicLong();

        void use(DistributedReentrantLock lock) {
            long token = lock.fencingToken();
            assertThat(inside.getAndSet(Thread.currentThread()))
                    .as("who is inside already")
                    .isNull();
            assertThat(token).as("the token").isGreaterThan(lastToken.getAndSet(token));
            entries.incrementAndGet();
            assertThat(inside.getAndSet(null)).isEqualTo(Thread.currentThread());
        }
    }

    private static boolean isScript(List<String> words) {
        return words.get(0).equalsIgnoreCase("EVALSHA");
    }

    private static void contend(DistributedReentrantLock lock, Guarded guarded, Random random, AtomicBoolean stop) {
        while (!stop.get()) {
            try {
                if (!acquire(lock, random.nextInt(8))) {
                    continue;
                }
            } catch (InterruptedException e) {
                assertThat(lock.isHeldByCurrentThread()).isFalse();
                continue;
            }
            try {
                guarded.use(lock);
            } finally {
                lock.unlock();
            }
        }
    }

    private static boolean acquire(DistributedReentrantLock lock, int way) throws InterruptedException {
        switch (way) {
            case 0 -> {
                return attempted(lock, () -> lock.tryLock());
            }
            case 1 -> {
                return attempted(lock, () -> lock.tryLock(30, TimeUnit.MILLISECONDS));
            }
            case 2 -> lock.lockInterruptibly();
            case 3 -> lock.lock(25, TimeUnit.SECONDS);
            default -> lock.lock();
        }
        return true;
    }

    private interface Attempt {
        boolean run() throws InterruptedException;
    }

    // Who doesn't want to wait may hear that Redis hasn't answered in that time.
    private static boolean attempted(DistributedReentrantLock lock, Attempt attempt) throws InterruptedException {
        try {
            return attempt.run();
        } catch (RedisUnavailableException e) {
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            return false;
        }
    }

    private void doHarm(Random random) {
        Loss loss = random.nextBoolean() ? Loss.CUT : Loss.muteFor(Duration.ofMillis(900));
        Duration spell = Duration.ofMillis(random.nextInt(700));
        switch (random.nextInt(9)) {
            case 0 -> proxy().cut();
            case 1 -> {
                proxy().stall();
                LockSupport.parkNanos(spell.toNanos());
                proxy().resume();
            }
            case 2 -> proxy().dropReplies(ChaosTest::isScript, 1 + random.nextInt(3), loss);
            case 3 -> proxy().dropRequests(ChaosTest::isScript, 1 + random.nextInt(2), loss);
            case 4 -> proxy().dropMessages(words -> words.get(0).equals("message"), 3);
            case 5 -> proxy().duplicateRequests(ChaosTest::isScript, spell, 5);
            case 6 -> proxy().delayRequests(ChaosTest::isScript, spell, 2);
            case 7 -> kill("TYPE", random.nextBoolean() ? "normal" : "pubsub");
            default -> server().command("SCRIPT", "FLUSH");
        }
    }

    private void kill(String... which) {
        try {
            server().command("CLIENT", "KILL", which[0], which[1]);
        } catch (RespError e) {
            assertThat(e.getMessage()).contains("No such client");
        }
    }

    private void contendUnderFaults(long seed, Duration time) {
        Random random = new Random(seed);
        List<Guarded> guarded = List.of(new Guarded(), new Guarded());
        List<Recorder> recorders = new ArrayList<>();
        List<Actor> actors = new ArrayList<>();
        List<CompletableFuture<Boolean>> work = new ArrayList<>();
        AtomicBoolean stop = new AtomicBoolean();
        for (int i = 0; i < SESSIONS; i++) {
            Recorder recorder = new Recorder();
            recorders.add(recorder);
            Interlock session = session(builder -> builder.listener(recorder));
            for (int j = 0; j < THREADS; j++) {
                int name = j % NAMES;
                DistributedReentrantLock lock = lock(session, "name-" + name);
                Random own = new Random(random.nextLong());
                Actor actor = actor("s" + i + "-t" + j);
                actors.add(actor);
                work.add(actor.begin(() -> contend(lock, guarded.get(name), own, stop)));
            }
        }
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0 && work.stream().noneMatch(CompletableFuture::isDone)) {
            doHarm(random);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(250)));
            actors.get(random.nextInt(actors.size())).interrupt();
        }
        proxy().heal();
        awaitMoreEntries(guarded, work);
        stop.set(true);
        for (CompletableFuture<Boolean> each : work) {
            assertThat(each).as("seed %d", seed).succeedsWithin(PATIENCE);
        }
        assertThat(recorders)
                .as("losses, seed %d", seed)
                .allSatisfy(
                        recorder -> assertThat(recorder.of(Recorder.Kind.LOST)).isEmpty());
    }

    /** Both names are entered again and again, unless work has ended early, which the caller reports. */
    private static void awaitMoreEntries(List<Guarded> guarded, List<CompletableFuture<Boolean>> work) {
        List<Long> before = guarded.stream().map(each -> each.entries.get()).toList();
        await("everybody goes on")
                .until(() -> work.stream().anyMatch(CompletableFuture::isDone)
                        || (guarded.get(0).entries.get() > before.get(0) + 100
                                && guarded.get(1).entries.get() > before.get(1) + 100));
    }

    @Test
    void noFaultBreaksExclusionOrLeavesAnythingBehind() {
        contendUnderFaults(20_260_101, Duration.ofSeconds(5));
    }

    @Test
    @Tag("soak")
    @Timeout(value = 1, unit = TimeUnit.DAYS)
    void noFaultBreaksExclusionOrLeavesAnythingBehindForLong() {
        contendUnderFaults(System.nanoTime(), Duration.ofSeconds(Long.getLong("interlock.soak.seconds", 60)));
    }
}
