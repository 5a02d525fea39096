package dev.interlock.lifecycle;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.SemaphoreOptions;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** close(Duration) refuses what is new, and leaves those that hold something the time to give it back. */
class CloseAwaitTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final Duration LONG = Duration.ofMinutes(10);

    private Recorder recorder = new Recorder();

    @BeforeEach
    void listen() {
        recorder = new Recorder();
    }

    @Override
    protected String queueKey() {
        return "interlock:queue:interlock:{theirs}:rw";
    }

    @Override
    protected String lasting() {
        return super.lasting() + "|semaphore|latch|barrier";
    }

    private CompletableFuture<Boolean> beginToClose(Interlock session, Duration await) {
        CompletableFuture<Boolean> closed = actor("closer").begin(() -> session.close(await));
        await("it refuses what is new").until(() -> refuses(session));
        return closed;
    }

    private static boolean refuses(Interlock session) {
        DistributedReentrantLock probe = session.lock("probe");
        try {
            if (probe.tryLock()) {
                probe.unlock();
            }
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    private static void assertRefused(ThrowingCallable use) {
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(use)
                .isNotInstanceOf(LeaseLostException.class)
                .withMessageContaining("closed");
    }

    private static void assertSentAway(CompletableFuture<?> wait) {
        assertThat(wait)
                .failsWithin(PATIENCE)
                .withThrowableOfType(ExecutionException.class)
                .withCauseExactlyInstanceOf(IllegalStateException.class);
    }

    private void assertNothingIsLost() {
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
        assertThat(recorder.count(Recorder.Kind.LOST_UNNOTICED)).isZero();
    }

    @Test
    void itWaitsForTheHolderAndRefusesAllOthers() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock fresh = lock(session, "fresh");
        Actor holder = actor("holder");
        holder.run(lock::lock);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        for (DistributedReentrantLock each : new DistributedReentrantLock[] {lock, fresh}) {
            assertRefused(each::lock);
            assertRefused(each::lockInterruptibly);
            assertRefused(each::tryLock);
            assertRefused(() -> each.tryLock(1, TimeUnit.HOURS));
            assertRefused(() -> each.tryLock(0, TimeUnit.SECONDS));
            assertRefused(() -> each.lock(1, TimeUnit.HOURS));
        }
        assertThat(closed).isNotDone();
        holder.run(() -> {
            lock.lock();
            assertThat(lock.tryLock()).isTrue();
            assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();
            assertThat(lock.getHoldCount()).isEqualTo(4);
            lock.assertHeld();
            for (int i = 0; i < 4; i++) {
                lock.unlock();
            }
        });
        assertThat(closed).succeedsWithin(PATIENCE);
        assertNothingIsLost();
        assertThat(holder(NAME)).isEmpty();
    }

    /** The section is longer than the lease, which goes on being renewed. */
    @Test
    void leasesAreRenewedMeanwhile() {
        Interlock session =
                session(builder -> builder.lease(Duration.ofSeconds(1)).listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(session(), NAME);
        Actor holder = actor("holder");
        Actor rival = actor("rival");
        holder.run(lock::lock);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        CompletableFuture<Boolean> entered = queue(rival, other);
        int before = recorder.count(Recorder.Kind.RENEWED);
        await("renewals").until(() -> recorder.count(Recorder.Kind.RENEWED) >= before + 4);
        assertThat(entered).isNotDone();
        holder.run(lock::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(closed).succeedsWithin(PATIENCE);
        rival.run(other::unlock);
        assertNothingIsLost();
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair", "retained"})
    void thoseThatWaitAreSentAway(String form) {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = free(formOf(session, form));
        DistributedReentrantLock other = lock(session(), NAME);
        Actor holder = actor("holder");
        DistributedReentrantLock held = lock(session, "held");
        holder.run(held::lock);
        other.lock();
        CompletableFuture<Boolean> first = queue(actor("first"), lock);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        assertSentAway(first);
        awaitTickets(NAME, 0);
        assertThat(closed).isNotDone();
        holder.run(held::unlock);
        assertThat(closed).succeedsWithin(PATIENCE);
        other.unlock();
        assertNothingIsLost();
    }

    private static DistributedReentrantLock formOf(Interlock session, String form) {
        return switch (form) {
            case "fair" -> session.fairLock(NAME);
            case "retained" -> session.lock(NAME, LockOptions.retain(Duration.ofHours(1)));
            default -> session.lock(NAME);
        };
    }

    /** What queues behind the holder in the JVM doesn't get the lock from it. */
    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair", "retained"})
    void thoseThatQueueBehindTheHolderAreSentAwayWhenItLeaves(String form) {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = free(formOf(session, form));
        Actor holder = actor("holder");
        Actor queued = actor("queued");
        Actor behind = actor("behind");
        holder.run(lock::lock);
        CompletableFuture<Boolean> first = queued.begin(lock::lock);
        CompletableFuture<Boolean> second = behind.begin(lock::lockInterruptibly);
        awaitQueued(lock, queued, behind);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        holder.run(lock::unlock);
        assertSentAway(first);
        assertSentAway(second);
        assertThat(closed).succeedsWithin(PATIENCE);
        awaitTickets(NAME, 0);
        assertNothingIsLost();
    }

    /** Others needn't wait for what nobody uses. */
    @Test
    void whatIsOnlyKeptIsGivenBackAtOnce() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock kept = free(session.lock(NAME, LockOptions.retain(Duration.ofHours(1))));
        DistributedReentrantLock held = lock(session, "held");
        DistributedReentrantLock other = lock(session(), NAME);
        Actor holder = actor("holder");
        holder.run(held::lock);
        kept.lock();
        kept.unlock();
        assertThat(holder(NAME)).contains(session.id());
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        awaitFree(NAME);
        assertThat(actor("rival").get(() -> other.tryLock(10, TimeUnit.SECONDS) && unlocked(other)))
                .isTrue();
        assertThat(closed).isNotDone();
        holder.run(held::unlock);
        assertThat(closed).succeedsWithin(PATIENCE);
        assertNothingIsLost();
    }

    private static boolean unlocked(DistributedReentrantLock lock) {
        lock.unlock();
        return true;
    }

    @Test
    void whatIsLeftIsGivenBackAndReported() {
        try (Lines lines = new Lines()) {
            Interlock session = session(builder -> builder.listener(recorder).sessionName("orders-7f9"));
            DistributedReentrantLock lock = lock(session, NAME);
            DistributedReadWriteLock readWrite = session.readWriteLock("prices");
            DistributedSemaphore semaphore = session.semaphore("pool", 3);
            Actor holder = actor("holder");
            holder.run(() -> {
                lock.lock();
                readWrite.readLock().lock();
                semaphore.acquire(2);
            });
            long begun = Monotonic.nanos();
            session.close(Duration.ofMillis(300));
            Duration took = Duration.ofNanos(Monotonic.nanos() - begun);
            assertThat(took).isGreaterThanOrEqualTo(Duration.ofMillis(290));
            assertWithin(PATIENCE, took);
            assertThat(lines.warnings())
                    .singleElement()
                    .asString()
                    .contains("orders-7f9", "'stock'", "'prices'", "2 of the permits of 'pool'");
            await("told").until(() -> recorder.count(Recorder.Kind.LOST) == 3);
            assertThat(holder(NAME)).isEmpty();
            assertThatThrownBy(() -> holder.run(lock::unlock)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(() -> holder.run(readWrite.readLock()::unlock)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(() -> holder.run(() -> semaphore.release(2))).isInstanceOf(LeaseLostException.class);
        }
    }

    @Test
    void readersAndWritersAreWaitedFor() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReadWriteLock lock = session.readWriteLock(NAME);
        DistributedReadWriteLock written = session.readWriteLock("written");
        Actor reader = actor("reader");
        Actor second = actor("second");
        Actor writer = actor("writer");
        reader.run(lock.readLock()::lock);
        second.run(lock.readLock()::lock);
        writer.run(written.writeLock()::lock);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        assertRefused(lock.readLock()::lock);
        assertRefused(lock.readLock()::lockInterruptibly);
        assertRefused(lock.readLock()::tryLock);
        assertRefused(() -> lock.readLock().tryLock(1, TimeUnit.HOURS));
        assertRefused(written.writeLock()::lock);
        assertRefused(written.readLock()::tryLock);
        reader.run(() -> {
            lock.readLock().lock();
            lock.readLock().unlock();
            lock.readLock().unlock();
        });
        writer.run(() -> {
            written.readLock().lock();
            written.writeLock().unlock();
        });
        assertThat(closed).isNotDone();
        second.run(lock.readLock()::unlock);
        assertThat(closed).isNotDone();
        writer.run(written.readLock()::unlock);
        assertThat(closed).succeedsWithin(PATIENCE);
        assertNothingIsLost();
    }

    /** Readers behind a writer of their own session, and a writer behind another session's. */
    @Test
    void readersAndWritersThatWaitAreSentAway() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReadWriteLock mine = session.readWriteLock("mine");
        DistributedReadWriteLock theirs = session.readWriteLock("theirs");
        DistributedReadWriteLock others = session().readWriteLock("theirs");
        Actor holder = actor("holder");
        holder.run(mine.writeLock()::lock);
        others.writeLock().lock();
        CompletableFuture<Boolean> reader = actor("reader").begin(theirs.readLock()::lock);
        CompletableFuture<Boolean> behind = actor("behind").begin(mine.readLock()::lock);
        await("queued locally").until(mine::hasQueuedThreads);
        awaitWaiting(1);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        assertSentAway(reader);
        holder.run(mine.writeLock()::unlock);
        assertSentAway(behind);
        assertThat(closed).succeedsWithin(PATIENCE);
        others.writeLock().unlock();
        assertNothingIsLost();
    }

    @Test
    void permitsAreWaitedForUnlessTheyAreNobodys() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedSemaphore semaphore = session.semaphore("pool", 3);
        DistributedSemaphore unowned = session.semaphore("nobodys", 3, SemaphoreOptions.unowned());
        Actor holder = actor("holder");
        holder.run(() -> semaphore.acquire(2));
        unowned.acquireUninterruptibly();
        CompletableFuture<Boolean> waiting = actor("waiter").begin(() -> semaphore.acquire(2));
        await("it waits").until(semaphore::hasQueuedThreads);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        assertSentAway(waiting);
        assertRefused(semaphore::acquire);
        assertRefused(semaphore::acquireUninterruptibly);
        assertRefused(semaphore::tryAcquire);
        assertRefused(() -> semaphore.tryAcquire(1, TimeUnit.HOURS));
        assertRefused(semaphore::drainPermits);
        assertThat(semaphore.availablePermits()).isEqualTo(1);
        holder.run(() -> semaphore.release());
        assertThat(closed).isNotDone();
        holder.run(() -> semaphore.release());
        assertThat(closed).succeedsWithin(PATIENCE);
        assertNothingIsLost();
        assertThat(session().semaphore("pool", 3).availablePermits()).isEqualTo(3);
    }

    /** A holder may wait for a condition meanwhile: it gets its lock back. */
    @Test
    void aHolderComesBackFromACondition() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(session(), NAME);
        DistributedReentrantLock held = lock(session, "held");
        Condition mine = lock.newCondition("changed");
        Condition theirs = other.newCondition("changed");
        Actor keeper = actor("keeper");
        Actor waiter = actor("waiter");
        keeper.run(held::lock);
        AtomicBoolean isBack = new AtomicBoolean();
        CompletableFuture<Boolean> waited = waiter.begin(() -> {
            lock.lock();
            try {
                mine.await();
                lock.assertHeld();
                isBack.set(true);
            } finally {
                lock.unlock();
            }
        });
        Actor signaller = actor("signaller");
        await("it waits")
                .until(() -> signaller.get(() -> {
                    other.lock();
                    try {
                        return other.hasWaiters(theirs);
                    } finally {
                        other.unlock();
                    }
                }));
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        signaller.run(() -> {
            other.lock();
            theirs.signal();
            other.unlock();
        });
        assertThat(waited).succeedsWithin(PATIENCE);
        assertThat(isBack).isTrue();
        assertThat(closed).isNotDone();
        keeper.run(held::unlock);
        assertThat(closed).succeedsWithin(PATIENCE);
        assertNothingIsLost();
    }

    @Test
    void latchesBarriersAndRateLimitersWorkMeanwhile() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock held = lock(session, "held");
        Actor holder = actor("holder");
        holder.run(held::lock);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        holder.run(() -> {
            session.countDownLatch("latch", 1).countDown();
            assertThat(session.countDownLatch("latch", 1).await(10, TimeUnit.SECONDS))
                    .isTrue();
            assertThat(session.ping()).isPositive();
        });
        assertThat(closed).isNotDone();
        holder.run(held::unlock);
        assertThat(closed).succeedsWithin(PATIENCE);
        assertThatThrownBy(session::ping).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void anInterruptEndsTheWaitAndIsKept() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        Actor holder = actor("holder");
        Actor closer = actor("closer");
        holder.run(lock::lock);
        CompletableFuture<Boolean> interrupted = closer.ask(() -> {
            session.close(LONG);
            return Thread.interrupted();
        });
        await("it refuses what is new").until(() -> refuses(session));
        closer.thread().interrupt();
        assertThat(interrupted).succeedsWithin(PATIENCE).isEqualTo(true);
        assertThatThrownBy(() -> holder.run(lock::unlock)).isInstanceOf(LeaseLostException.class);
        assertThat(holder(NAME)).isEmpty();
    }

    /** close() ends the wait of a close(Duration). */
    @Test
    void aSecondCloseEndsTheWaitOfTheFirst() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        session.close();
        assertThat(closed).succeedsWithin(PATIENCE);
        assertThatThrownBy(() -> holder.run(lock::unlock)).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void nothingHeldIsNotWaitedFor() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        lock.lock();
        lock.unlock();
        long begun = Monotonic.nanos();
        session.close(LONG);
        assertWithin(PATIENCE, Duration.ofNanos(Monotonic.nanos() - begun));
        assertRefused(lock::lock);
    }

    @Test
    void theRangeIsChecked() {
        Interlock session = session();
        for (Duration wrong : new Duration[] {Duration.ofNanos(-1), Duration.ofDays(366)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> session.close(wrong))
                    .withMessageContaining("await must be from 0 ms to 365 days");
        }
        assertThat(lock(session, NAME).tryLock()).isTrue();
        session.lock(NAME).unlock();
        session.close(Duration.ofDays(365));
    }
}
