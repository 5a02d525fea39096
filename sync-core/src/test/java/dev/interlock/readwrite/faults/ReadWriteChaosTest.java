package dev.interlock.readwrite.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.LeaseLostException;
import dev.interlock.lock.faults.Rage;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

/**
 * Threads of three sessions read and write, one way and another, over a network that fails all the time. A tenure may
 * be lost that way: then its threads are told so, and of that round it isn't asked who was inside beside whom, but
 * still whether anybody hangs.
 */
class ReadWriteChaosTest extends ReadWriteFaultFixture {
    private static final int SESSIONS = 3;
    private static final int THREADS = 3;
    private static final Duration QUICK = Duration.ofSeconds(3);

    private final TestReporter reporter;

    private final AtomicInteger readers = new AtomicInteger();
    private final AtomicInteger writers = new AtomicInteger();
    private final AtomicLong lastToken = new AtomicLong();
    private final AtomicInteger losses = new AtomicInteger();
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();

    ReadWriteChaosTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    @Test
    void nobodyIsBesideAWriterAndNobodyHangs() {
        rage(QUICK, false);
    }

    @Test
    @Tag("soak")
    @Timeout(value = 1, unit = TimeUnit.DAYS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void soak() {
        Duration half =
                Duration.ofSeconds(Long.getLong("interlock.soak.seconds", 120)).dividedBy(2);
        rage(half, false);
        awaitFree(KEY);
        rage(half, true);
    }

    private void rage(Duration time, boolean fair) {
        lastToken.set(0);
        losses.set(0);
        violations.clear();
        Rage rage = new Rage(this, ReadWriteChaosTest::isScript);
        for (int i = 0; i < SESSIONS; i++) {
            DistributedReadWriteLock each = fair ? session().fairReadWriteLock(NAME) : of(session());
            for (int k = 0; k < THREADS; k++) {
                rage.start("actor-" + fair + "-" + i + "-" + k, () -> {
                    pass(each);
                    return true;
                });
            }
        }
        rage.disturb(time);
        List<AtomicLong> passages = rage.end();
        reporter.publishEntry(
                "passages of each thread, " + (fair ? "fair: " : "plain: ") + passages + ", losses: " + losses);
        assertThat(losses.get() > 0 ? List.of() : violations).isEmpty();
    }

    private static boolean isScript(List<String> words) {
        return words.get(0).equalsIgnoreCase("EVALSHA") && words.contains(KEY);
    }

    private void pass(DistributedReadWriteLock lock) throws InterruptedException {
        switch (ThreadLocalRandom.current().nextInt(10)) {
            case 0 -> {
                lock.writeLock().lock();
                inside(lock.writeLock(), () -> write(lock));
            }
            case 1 -> {
                lock.writeLock().lock();
                boolean[] reads = new boolean[1];
                inside(lock.writeLock(), () -> {
                    lock.readLock().lock();
                    reads[0] = true;
                });
                if (reads[0]) {
                    inside(lock.readLock(), () -> read(lock));
                }
            }
            case 2 -> {
                if (lock.writeLock().tryLock(50, TimeUnit.SECONDS)) {
                    inside(lock.writeLock(), () -> write(lock));
                }
            }
            case 3 -> {
                if (lock.readLock().tryLock(50, TimeUnit.SECONDS)) {
                    inside(lock.readLock(), () -> read(lock));
                }
            }
            default -> {
                lock.readLock().lock();
                inside(lock.readLock(), () -> read(lock));
            }
        }
    }

    private void inside(Lock held, Runnable section) {
        try {
            section.run();
        } catch (LeaseLostException e) {
            losses.incrementAndGet();
        } finally {
            try {
                held.unlock();
            } catch (LeaseLostException e) {
                losses.incrementAndGet();
            }
        }
    }

    private void write(DistributedReadWriteLock lock) {
        long token = lock.writeLock().fencingToken();
        int others = writers.getAndIncrement() + readers.get();
        long before = lastToken.getAndSet(token);
        LockSupport.parkNanos(1_000);
        int readersNow = readers.get();
        writers.decrementAndGet();
        lock.writeLock().assertHeld();
        expect(others == 0, "a writer came to " + others);
        expect(readersNow == 0, readersNow + " readers came to a writer");
        expect(before < token, "after token " + before + " came " + token);
    }

    private void read(DistributedReadWriteLock lock) {
        readers.incrementAndGet();
        int before = writers.get();
        LockSupport.parkNanos(1_000);
        int after = writers.get();
        readers.decrementAndGet();
        lock.readLock().assertHeld();
        expect(before + after == 0, "a reader met writers");
    }

    private void expect(boolean holds, String otherwise) {
        if (!holds) {
            violations.add(otherwise);
        }
    }
}
