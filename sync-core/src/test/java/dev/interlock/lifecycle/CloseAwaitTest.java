package dev.interlock.lifecycle;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** close(Duration) refuses what is new, and leaves those that hold a lock the time to give it back. */
class CloseAwaitTest extends CloseAwaitFixture {
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
                session(builder -> builder.lease(Duration.ofSeconds(3)).listener(recorder));
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
            assertThat(lines.warnings(session))
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

    /** What an application does before it closes its session. */
    @Test
    void awaitHoldersRefusesNothing() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        assertThat(session.awaitHolders(Duration.ofMillis(10))).isFalse();
        CompletableFuture<Boolean> waiting = actor("waiter").ask(() -> session.awaitHolders(LONG));
        DistributedReentrantLock other = lock(session, "other");
        assertThat(other.tryLock()).isTrue();
        other.unlock();
        assertThat(waiting).isNotDone();
        holder.run(lock::unlock);
        assertThat(waiting).succeedsWithin(PATIENCE).isEqualTo(true);
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
        session.close();
        assertNothingIsLost();
    }
}
