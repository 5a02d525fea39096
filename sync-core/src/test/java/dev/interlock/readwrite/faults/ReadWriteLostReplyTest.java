package dev.interlock.readwrite.faults;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A command of a read-write lock whose answer is lost, or which arrives twice, has the effect of one command. */
class ReadWriteLostReplyTest extends ReadWriteFaultFixture {

    private static void within(Duration atMost, Runnable action) {
        long start = System.nanoTime();
        action.run();
        assertWithin(atMost, Duration.ofNanos(System.nanoTime() - start));
    }

    /** Acquires to read: the answer is lost, and it reads once. */
    private void readOnce() {
        proxy().dropReplies(Requests.acquire(KEY), 1, Loss.CUT);
        within(REPEATED, lock.readLock()::lock);
        assertThat(dropped()).isPositive();
        assertRead(session);
    }

    /** Acquires to write: the answer is lost, and it writes once. */
    private void writeOnce() {
        proxy().dropReplies(Requests.acquire(KEY), 1, Loss.CUT);
        within(REPEATED, lock.writeLock()::lock);
        assertThat(dropped()).isPositive();
        assertWritten(session);
    }

    @Test
    void readingCountsOnce() {
        use(session());
        readOnce();
        assertThat(lock.getReadLockCount()).isEqualTo(1);
        assertNobodyElseWrites(rival);
        endReading();
    }

    @Test
    void writingCountsOnce() {
        use(session());
        writeOnce();
        assertNobodyElseWrites(rival);
        endWriting();
    }

    /** Who reads and who writes have one place each behind a writer, and keep it. */
    @Test
    void placesInTheQueueSurvive() {
        DistributedReadWriteLock held = of(undisturbed());
        Interlock first = session();
        Interlock second = session();
        DistributedReadWriteLock toRead = of(first);
        DistributedReadWriteLock toWrite = of(second);
        Actor reader = actor("reader");
        Actor writer = actor("writer");
        held.writeLock().lock();
        proxy().dropReplies(Requests.acquire(KEY).and(Requests.of(first)), 1, Loss.CUT);
        CompletableFuture<Boolean> reads = queue(reader, toRead.readLock()::lock, 1);
        await("lost").until(() -> dropped() == 1);
        proxy().dropReplies(Requests.acquire(KEY).and(Requests.of(second)), 1, Loss.CUT);
        CompletableFuture<Boolean> writes = queue(writer, toWrite.writeLock()::lock, 2);
        await("lost").until(() -> dropped() >= 2);
        held.writeLock().unlock();
        assertThat(reads).succeedsWithin(REPEATED);
        assertRead(first);
        assertThat(writes).isNotDone();
        reader.run(toRead.readLock()::unlock);
        assertThat(writes).succeedsWithin(REPEATED);
        assertWritten(second);
        writer.run(toWrite.writeLock()::unlock);
        awaitFree(KEY);
    }

    /**
     * Every command of a session that reads, writes, and reads on, once more when all of that is over: nothing moves.
     */
    @Test
    void lateDuplicatesChangeNothing() {
        Interlock session = keeping();
        Interlock other = undisturbed();
        DistributedReadWriteLock lock = of(session);
        DistributedReadWriteLock rival = of(other);
        Duration later = Duration.ofMillis(1_500);
        long before = proxy().duplicated();
        proxy().duplicateRequests(Requests.acquire(KEY), later, 2);
        proxy().duplicateRequests(Requests.downgrade(KEY), later, 1);
        proxy().duplicateRequests(Requests.release(KEY), later, 1);
        lock.readLock().lock();
        lock.readLock().unlock();
        lock.writeLock().lock();
        lock.readLock().lock();
        lock.writeLock().unlock();
        assertRead(session);
        Actor writer = actor("writer");
        CompletableFuture<Boolean> writes = queue(writer, rival.writeLock()::lock, 1);
        lock.readLock().unlock();
        assertThat(writes).succeedsWithin(PROMPTLY);
        String owner = holder(KEY);
        assertWritten(other);
        await("duplicates").until(() -> proxy().duplicated() - before == 4);
        assertThat(holder(KEY)).isEqualTo(owner);
        assertThat(waiting()).isZero();
        writer.run(rival.writeLock()::assertHeld);
        writer.run(rival.writeLock()::unlock);
        awaitFree(KEY);
        lock.readLock().lock();
        assertRead(session);
        lock.readLock().unlock();
        assertAvailable();
    }

    /** The same while the session reads again: the release of its first share must not end the second. */
    @Test
    void lateDuplicatesDoNotEndWhatIsReadOnNext() {
        use(session());
        Duration later = Duration.ofMillis(500);
        long before = proxy().duplicated();
        proxy().duplicateRequests(Requests.acquire(KEY), later, 1);
        proxy().duplicateRequests(Requests.release(KEY), later, 1);
        lock.readLock().lock();
        lock.readLock().unlock();
        awaitFree(KEY);
        lock.readLock().lock();
        String reader = holder(KEY);
        assertRead(session);
        await("duplicates").until(() -> proxy().duplicated() - before == 2);
        assertThat(holder(KEY)).isEqualTo(reader);
        endReading();
    }

    /** Closing a session right after a reader's unlock, whose release isn't waited for, still lets that arrive. */
    @Test
    void aShareThatIsLeftJustBeforeCloseIsNotLeftBehind() {
        Interlock session = closing(Interlock.builder()
                .uri(proxy().url())
                .handoffSlice(Duration.ZERO)
                .open());
        DistributedReadWriteLock lock = session.readWriteLock(NAME);
        lock.readLock().lock();
        // Two round trips: Redis doesn't know the script, and is told.
        server().command("SCRIPT", "FLUSH");
        proxy().delay(Duration.ofMillis(50));
        lock.readLock().unlock();
        session.close();
        assertThat(holder(KEY)).isEmpty();
    }
}
