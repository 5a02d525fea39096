package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Several listeners of one session, which come and go, and what they hear of the threads that lock. */
class ListenersTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final Duration LONG = Duration.ofMillis(60);

    @Override
    protected String lasting() {
        return "mark|token|turns|signals|:rate$";
    }

    /** Writes down what it hears of threads, as words. */
    private static class Diary implements SyncListener {
        final List<String> lines = new CopyOnWriteArrayList<>();
        final List<Long> nanos = new CopyOnWriteArrayList<>();

        @Override
        public void waiting(String name, String kind) {
            lines.add("waiting for " + kind + " " + name);
        }

        @Override
        public void waited(String name, String kind, Outcome outcome, boolean local, long waitedNanos) {
            lines.add(outcome + " " + (local ? "locally" : "by Redis") + ", " + kind + " " + name);
            nanos.add(waitedNanos);
        }

        @Override
        public void held(String name, long holds, long heldNanos) {
            lines.add("held " + holds + " " + name);
            nanos.add(heldNanos);
        }

        @Override
        public void permitsAsked(String name, int permits, Outcome outcome, long waitedNanos) {
            lines.add(outcome + " " + permits + " of " + name);
            nanos.add(waitedNanos);
        }

        @Override
        public void decided(String name, long permits, boolean granted) {
            lines.add((granted ? "granted " : "refused ") + permits + " of " + name);
        }
    }

    /** Fails at everything that it is told of threads. */
    private static final class Bad extends Diary {
        @Override
        public void waiting(String name, String kind) {
            throw new IllegalStateException("a bad listener");
        }

        @Override
        public void acquired(String name, long waitedNanos, boolean local) {
            throw new AssertionError("a bad listener");
        }

        @Override
        public void held(String name, long holds, long heldNanos) {
            throw new AssertionError("a bad listener");
        }
    }

    private static void pass(Duration time) {
        await("a while").during(time).until(() -> true);
    }

    @Test
    void aWaitAndAHoldAreToldAsTheyBeginAndEnd() {
        Diary diary = new Diary();
        DistributedReentrantLock lock = lock(session(b -> b.listener(diary)), NAME);
        lock.lock();
        lock.lock(); // a re-entry is neither
        pass(LONG);
        lock.unlock();
        lock.unlock();
        assertThat(diary.lines)
                .containsExactly("waiting for lock stock", "ACQUIRED by Redis, lock stock", "held 1 stock");
        assertThat(diary.nanos.get(1)).isBetween(LONG.toNanos(), PATIENCE.toNanos());
    }

    /** What a session has kept is there at once: that is no wait, and no clock is read for it. */
    @Test
    void aThreadThatGetsTheLockAtOnceDoesNotWait() {
        Diary diary = new Diary();
        Recorder recorder = new Recorder();
        Interlock session = session(b -> b.listener(diary).handoffSlice(Duration.ofHours(1)));
        session.addListener(recorder);
        DistributedReentrantLock lock = lock(session, NAME);
        Actor first = actor("first");
        Actor second = actor("second");
        first.run(lock::lock);
        CompletableFuture<Boolean> entered = second.begin(lock::lock);
        awaitQueued(lock, second);
        pass(LONG);
        first.run(lock::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        second.run(lock::unlock);
        assertThat(diary.lines)
                .contains("ACQUIRED locally, lock stock")
                .filteredOn(line -> line.startsWith("waiting"))
                .hasSize(2);
        assertThat(recorder.of(Recorder.Kind.ACQUIRED_LOCALLY))
                .singleElement()
                .satisfies(event -> assertThat(event.nanos()).isBetween(LONG.toNanos(), PATIENCE.toNanos()));
    }

    @Test
    void waitsThatEndWithoutTheLockAreToldWithTheReason() {
        Diary diary = new Diary();
        DistributedReentrantLock lock = free(session(b -> b.listener(diary)).fairLock(NAME));
        DistributedReentrantLock other = free(undisturbed().fairLock(NAME));
        Actor late = actor("late");
        Actor interrupted = actor("interrupted");
        Actor failed = actor("failed");
        other.lock();
        assertThat(late.get(() -> lock.tryLock(LONG.toMillis(), TimeUnit.MILLISECONDS)))
                .isFalse();
        CompletableFuture<Boolean> entered = interrupted.begin(lock::lockInterruptibly);
        awaitTickets(NAME, 1);
        interrupted.interrupt();
        assertThat(entered).failsWithin(PATIENCE);
        proxy().stall();
        assertThatThrownBy(() -> failed.run(() -> lock.tryLock(LONG.toMillis(), TimeUnit.MILLISECONDS)))
                .isInstanceOf(RedisUnavailableException.class);
        proxy().heal();
        other.unlock();
        assertThat(diary.lines)
                .containsExactly(
                        "waiting for fair lock stock",
                        "TIMEOUT by Redis, fair lock stock",
                        "waiting for fair lock stock",
                        "INTERRUPTED by Redis, fair lock stock",
                        "waiting for fair lock stock",
                        "FAILED by Redis, fair lock stock");
        assertThat(diary.nanos.get(0)).isBetween(LONG.toNanos(), PATIENCE.toNanos());
    }

    @Test
    void aRefusalAtOnceIsATimeoutLikeAnyOther() {
        Diary diary = new Diary();
        DistributedReentrantLock lock = lock(session(b -> b.listener(diary)), NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        diary.lines.clear();
        assertThat(lock.tryLock()).isFalse();
        assertThat(diary.lines).containsExactly("waiting for lock stock", "TIMEOUT locally, lock stock");
        holder.run(lock::unlock);
    }

    @Test
    void readersAndWritersWaitUnderTheirOwnKinds() {
        Diary diary = new Diary();
        DistributedReadWriteLock lock = session(b -> b.listener(diary)).readWriteLock(NAME);
        Actor writer = actor("writer");
        Actor reader = actor("reader");
        writer.run(lock.writeLock()::lock);
        CompletableFuture<Boolean> entered = reader.begin(lock.readLock()::lock);
        await("queued").until(() -> lock.hasQueuedThread(reader.thread()));
        writer.run(lock.writeLock()::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        reader.run(lock.readLock()::unlock);
        assertThat(diary.lines)
                .contains(
                        "waiting for write lock stock",
                        "ACQUIRED by Redis, write lock stock",
                        "waiting for read lock stock",
                        "ACQUIRED locally, read lock stock")
                .filteredOn(line -> line.startsWith("held"))
                .containsExactly("held 1 stock");
    }

    @Test
    @SuppressWarnings("WaitNotInLoop") // nobody signals
    void aHoldEndsAtAwaitAndAnotherOneBeginsAfterIt() throws InterruptedException {
        Diary diary = new Diary();
        Recorder recorder = new Recorder();
        Interlock session = session(b -> b.listener(diary));
        session.addListener(recorder);
        DistributedReentrantLock lock = lock(session, NAME);
        Condition condition = lock.newCondition();
        lock.lock();
        assertThat(condition.await(LONG.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
        lock.unlock();
        assertThat(diary.lines)
                .filteredOn(line -> line.startsWith("h"))
                .containsExactly("held 1 stock", "held 1 stock");
        assertThat(recorder.count(Recorder.Kind.ACQUIRED_LOCALLY) + recorder.count(Recorder.Kind.ACQUIRED_REMOTELY))
                .isEqualTo(2);
    }

    @Test
    void permitsAndDecisionsAreTold() throws InterruptedException {
        Diary diary = new Diary();
        Interlock session = session(b -> b.listener(diary));
        DistributedSemaphore semaphore = session.semaphore("permits", 2);
        semaphore.acquire(2);
        assertThat(semaphore.tryAcquire()).isFalse();
        Actor interrupted = actor("interrupted");
        CompletableFuture<Boolean> acquired = interrupted.begin(semaphore::acquire);
        await("queued").until(semaphore::hasQueuedThreads);
        interrupted.interrupt();
        assertThat(acquired).failsWithin(PATIENCE);
        semaphore.release(2);
        assertThat(diary.lines)
                .containsExactly("ACQUIRED 2 of permits", "TIMEOUT 1 of permits", "INTERRUPTED 1 of permits");
        diary.lines.clear();
        RateLimiter limiter = session.rateLimiter("limit", RateLimit.fixedWindow(2, Duration.ofHours(1)));
        assertThat(limiter.tryAcquire(2)).isTrue();
        assertThat(limiter.decide(1).allowed()).isFalse();
        assertThat(limiter.tryAcquireAsync(1)).succeedsWithin(PATIENCE).isEqualTo(false);
        assertThat(diary.lines).containsExactly("granted 2 of limit", "refused 1 of limit", "refused 1 of limit");
        server().command("FLUSHALL");
    }

    /**
     * The end of a wait is told to those that have heard of its beginning, a hold to those that are there at its end.
     */
    @Test
    void listenersComeAndGoWhileThreadsWaitAndHold() {
        Diary leaving = new Diary();
        Diary coming = new Diary();
        Interlock session = session(b -> b.adaptiveRetention(false));
        session.addListener(leaving);
        session.addListener(leaving); // once is enough
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor actor = actor("actor");
        other.lock();
        CompletableFuture<Boolean> entered = queue(actor, lock);
        session.removeListener(leaving);
        session.addListener(coming);
        other.unlock();
        assertThat(entered).succeedsWithin(PATIENCE);
        actor.run(lock::unlock);
        assertThat(leaving.lines).containsExactly("waiting for lock stock", "ACQUIRED by Redis, lock stock");
        assertThat(coming.lines).containsExactly("held 1 stock");
        session.removeListener(coming);
        actor.run(lock::lock);
        actor.run(lock::unlock);
        assertThat(leaving.lines).hasSize(2);
        assertThat(coming.lines).hasSize(1);
    }

    /** Listeners hear of all holds, but not of each by itself. */
    @Test
    void manyHoldsAreToldTogether() {
        AtomicLong told = new AtomicLong();
        AtomicLong holds = new AtomicLong();
        Interlock session = session();
        session.addListener(new SyncListener() {
            @Override
            public void held(String name, long number, long heldNanos) {
                told.incrementAndGet();
                holds.addAndGet(number);
            }
        });
        DistributedReentrantLock lock = lock(session, NAME);
        int all = 100_000;
        for (int i = 0; i < all; i++) {
            lock.lock();
            lock.unlock();
        }
        await("all are told").untilAsserted(() -> assertThat(holds).hasValue(all));
        assertThat(told.get()).isLessThan(all);
    }

    @Test
    void aListenerThatThrowsKeepsNothingFromTheOthers() {
        Diary diary = new Diary();
        Interlock session = session(b -> b.listener(new Bad()));
        session.addListener(diary);
        DistributedReentrantLock lock = lock(session, NAME);
        lock.lock();
        lock.assertHeld();
        lock.unlock();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(diary.lines)
                .containsExactly("waiting for lock stock", "ACQUIRED by Redis, lock stock", "held 1 stock");
    }

    @Test
    void aListenerThatComesDuringAnOutageHearsOfIt() {
        Recorder early = new Recorder();
        Recorder late = new Recorder();
        // A ping has to time out.
        Interlock session = impatient(b -> b.listener(early));
        proxy().stall();
        assertThatThrownBy(session::ping).isInstanceOf(RedisUnavailableException.class);
        await("outage").until(() -> early.count(Recorder.Kind.UNREACHABLE) == 1);
        session.addListener(late);
        await("told").until(() -> late.count(Recorder.Kind.UNREACHABLE) == 1);
        proxy().heal();
        await("over").ignoreExceptions().until(() -> {
            session.ping();
            return late.count(Recorder.Kind.REACHABLE) == 1;
        });
        assertThat(early.count(Recorder.Kind.UNREACHABLE)).isEqualTo(1);
    }

    /** A user's listener that fails is no defect of the library, and one that stands still delays no other. */
    @Test
    void aListenerOfLossesNeitherFailsNorDelaysOthers() {
        Recorder recorder = new Recorder();
        Interlock session = session(b -> b.listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock another = lock(session, "another");
        List<String> told = new CopyOnWriteArrayList<>();
        CountDownLatch goOn = new CountDownLatch(1);
        Runnable removal = lock.onLost(loss -> told.add("removed"));
        lock.onLost(loss -> {
            throw new IllegalStateException("a bad listener");
        });
        lock.onLost(loss -> Uninterruptibles.awaitUninterruptibly(goOn));
        lock.onLost(loss -> told.add(loss.lockName()));
        another.onLost(loss -> told.add(loss.lockName()));
        removal.run();
        try (var log = new LogLines()) {
            lock.lock();
            another.lock();
            session.close();
            await("the others").until(() -> told.size() == 2 && recorder.count(Recorder.Kind.LOST) == 2);
            assertThat(told).containsExactlyInAnyOrder(NAME, "another");
            await("the bad one").until(() -> log.lines.stream().anyMatch(line -> line.contains("what it has thrown")));
            assertThat(log.lines).noneMatch(line -> line.contains("defect"));
        } finally {
            goOn.countDown();
        }
    }

    private static final class LogLines extends AppenderBase<ILoggingEvent> implements AutoCloseable {
        private final Logger logger = (Logger) LoggerFactory.getLogger("dev.interlock");
        private final List<String> lines = new CopyOnWriteArrayList<>();

        LogLines() {
            start();
            logger.addAppender(this);
        }

        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getFormattedMessage());
        }

        @Override
        public void close() {
            logger.detachAppender(this);
            stop();
        }
    }
}
