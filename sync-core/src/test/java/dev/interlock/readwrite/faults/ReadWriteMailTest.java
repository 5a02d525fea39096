package dev.interlock.readwrite.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers that never leave all at once have to hear that a writer waits. */
class ReadWriteMailTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final String KEY = "interlock:{" + NAME + "}:rw";
    private static final long STAY_NANOS = 2_000_000;

    /** A writer repeats its demand by the pulse; and those who read then have to leave. */
    private static final Duration DEMANDED = PROMPTLY.plusMillis(500);

    private final AtomicBoolean stop = new AtomicBoolean();

    /** Starts threads that read on, so close together that somebody always reads. */
    private List<CompletableFuture<Boolean>> readOn(DistributedReadWriteLock lock) {
        stop.set(false);
        List<CompletableFuture<Boolean>> readers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            readers.add(actor("reader-" + i).begin(() -> {
                while (!stop.get()) {
                    lock.readLock().lock();
                    LockSupport.parkNanos(STAY_NANOS);
                    lock.readLock().assertHeld();
                    lock.readLock().unlock();
                }
            }));
        }
        await("readers together").until(() -> lock.getReadLockCount() > 1);
        return readers;
    }

    private void end(List<CompletableFuture<Boolean>> readers) {
        stop.set(true);
        readers.forEach(each -> assertThat(each).succeedsWithin(PATIENCE));
    }

    /** The message is lost that a writer waits; readers of the other session never leave all at once. */
    @ParameterizedTest
    @ValueSource(ints = {1, FaultProxy.ALWAYS})
    void aDemandThatIsLostIsRepeated(int times) {
        Interlock session = session();
        DistributedReadWriteLock read = session.readWriteLock(NAME);
        DistributedReadWriteLock wanted = undisturbed().readWriteLock(NAME);
        List<CompletableFuture<Boolean>> readers = readOn(read);
        long before = proxy().droppedMessages();
        proxy().dropMessages(Requests.demand(session), times);
        Actor writer = actor("writer");
        CompletableFuture<Boolean> writes = writer.begin(wanted.writeLock()::lock);
        await("lost").until(() -> proxy().droppedMessages() > before || writes.isDone());
        assertThat(proxy().droppedMessages()).isGreaterThan(before);
        assertThat(writes).succeedsWithin(DEMANDED);
        assertThat(read.getReadLockCount()).isZero();
        writer.run(wanted.writeLock()::assertHeld);
        writer.run(wanted.writeLock()::unlock);
        await("readers again").until(() -> read.getReadLockCount() > 0);
        proxy().heal();
        end(readers);
    }

    /** The same for readers on what their session has for itself, since it wrote before: other readers get in, too. */
    @Test
    void aDemandOfReadersThatIsLostIsFound() {
        Interlock session = session();
        DistributedReadWriteLock read = session.readWriteLock(NAME);
        DistributedReadWriteLock wanted = undisturbed().readWriteLock(NAME);
        Actor writer = actor("writer");
        writer.run(read.writeLock()::lock);
        List<CompletableFuture<Boolean>> readers = new ArrayList<>();
        stop.set(false);
        for (int i = 0; i < 2; i++) {
            readers.add(actor("reader-" + i).begin(() -> {
                read.readLock().lock();
                while (!stop.get()) {
                    LockSupport.parkNanos(STAY_NANOS);
                }
                read.readLock().unlock();
            }));
        }
        await("readers in line").until(() -> read.getQueueLength() == 2);
        writer.run(read.writeLock()::unlock);
        await("readers").until(() -> read.getReadLockCount() == 2);
        assertThat(holder(KEY)).as("theirs alone").doesNotContain(":r");
        proxy().dropMessages(Requests.demand(session), FaultProxy.ALWAYS);
        Actor reader = actor("other reader");
        CompletableFuture<Boolean> reads = reader.begin(wanted.readLock()::lock);
        assertThat(reads).succeedsWithin(DEMANDED);
        // The session itself shares it for an instant, while it lets the others in.
        await("both still reading").until(() -> read.getReadLockCount() == 2);
        reader.run(wanted.readLock()::unlock);
        end(readers);
    }
}
