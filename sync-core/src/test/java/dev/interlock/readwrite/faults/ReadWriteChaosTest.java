package dev.interlock.readwrite.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.faults.Actor;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

/** Threads of three sessions read and write, one way and another, over a network that fails all the time. */
class ReadWriteChaosTest extends ReadWriteFaultFixture {
    private static final int SESSIONS = 3;
    private static final int THREADS = 3;
    private static final Duration QUICK = Duration.ofSeconds(3);
    private static final Duration BETWEEN_FAULTS = Duration.ofMillis(60);
    private static final Duration LATE = Duration.ofMillis(300);

    /** All that a thread may need at the end, when the network is well again. */
    private static final Duration END = Duration.ofSeconds(15);

    private final TestReporter reporter;

    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicInteger readers = new AtomicInteger();
    private final AtomicInteger writers = new AtomicInteger();
    private final AtomicLong lastToken = new AtomicLong();

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
        stop.set(false);
        lastToken.set(0);
        List<AtomicLong> passages = new ArrayList<>();
        List<CompletableFuture<Boolean>> threads = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
            DistributedReadWriteLock lock = fair ? session().fairReadWriteLock(NAME) : of(session());
            for (int k = 0; k < THREADS; k++) {
                Actor actor = actor("actor-" + fair + "-" + i + "-" + k);
                AtomicLong count = new AtomicLong();
                passages.add(count);
                threads.add(actor.begin(() -> {
                    while (!stop.get()) {
                        pass(lock);
                        count.incrementAndGet();
                    }
                }));
            }
        }
        long start = System.nanoTime();
        while (System.nanoTime() - start < time.toNanos()
                && threads.stream().noneMatch(CompletableFuture::isCompletedExceptionally)) {
            int fault = ThreadLocalRandom.current().nextInt(8);
            begin(fault);
            await("some time").pollDelay(BETWEEN_FAULTS).until(() -> true);
        }
        proxy().heal();
        stop.set(true);
        for (CompletableFuture<Boolean> thread : threads) {
            assertThat(thread).succeedsWithin(END);
        }
        reporter.publishEntry("passages of each thread, " + (fair ? "fair: " : "plain: ") + passages);
        assertThat(passages).allSatisfy(count -> assertThat(count.get()).isPositive());
    }

    private static boolean isScript(List<String> words) {
        return words.get(0).equalsIgnoreCase("EVALSHA") && words.contains(KEY);
    }

    private void begin(int fault) {
        switch (fault) {
            case 0 -> proxy().cut();
            case 1 -> proxy().dropReplies(ReadWriteChaosTest::isScript, 1, Loss.CUT);
            case 2 -> proxy().dropReplies(ReadWriteChaosTest::isScript, 1, Loss.MUTE);
            case 3 -> proxy().dropRequests(ReadWriteChaosTest::isScript, 1, Loss.CUT);
            case 4 -> proxy().delayRequests(ReadWriteChaosTest::isScript, LATE, 1);
            case 5 -> proxy().duplicateRequests(ReadWriteChaosTest::isScript, LATE, 3);
            case 6 -> proxy().dropMessages(words -> words.get(0).equals("message"), 2);
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

    private void pass(DistributedReadWriteLock lock) throws InterruptedException {
        switch (ThreadLocalRandom.current().nextInt(10)) {
            case 0 -> {
                lock.writeLock().lock();
                write(lock);
                lock.writeLock().unlock();
            }
            case 1 -> {
                lock.writeLock().lock();
                writers.incrementAndGet();
                lock.readLock().lock();
                writers.decrementAndGet();
                readers.incrementAndGet();
                lock.writeLock().unlock();
                assertThat(writers).as("writers beside one that reads on").hasValue(0);
                lock.readLock().assertHeld();
                readers.decrementAndGet();
                lock.readLock().unlock();
            }
            case 2 -> {
                if (lock.writeLock().tryLock(50, TimeUnit.SECONDS)) {
                    write(lock);
                    lock.writeLock().unlock();
                }
            }
            case 3 -> {
                if (lock.readLock().tryLock(50, TimeUnit.SECONDS)) {
                    read(lock);
                    lock.readLock().unlock();
                }
            }
            default -> {
                lock.readLock().lock();
                read(lock);
                lock.readLock().unlock();
            }
        }
    }

    private void write(DistributedReadWriteLock lock) {
        assertThat(writers.incrementAndGet()).as("writers").isEqualTo(1);
        assertThat(readers).as("readers beside a writer").hasValue(0);
        long token = lock.writeLock().fencingToken();
        assertThat(lastToken.getAndSet(token)).as("the token before").isLessThan(token);
        LockSupport.parkNanos(1_000);
        assertThat(readers).as("readers beside a writer").hasValue(0);
        lock.writeLock().assertHeld();
        writers.decrementAndGet();
    }

    private void read(DistributedReadWriteLock lock) {
        readers.incrementAndGet();
        assertThat(writers).as("writers beside a reader").hasValue(0);
        LockSupport.parkNanos(1_000);
        lock.readLock().assertHeld();
        assertThat(writers).as("writers beside a reader").hasValue(0);
        readers.decrementAndGet();
    }
}
