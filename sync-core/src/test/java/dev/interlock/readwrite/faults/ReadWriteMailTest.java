package dev.interlock.readwrite.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
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

/** Messages make readers and writers quick; none of them is needed for a wait to end. */
class ReadWriteMailTest extends ReadWriteFaultFixture {
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
        DistributedReadWriteLock read = of(session);
        DistributedReadWriteLock wanted = of(undisturbed());
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
        DistributedReadWriteLock read = of(session);
        DistributedReadWriteLock wanted = of(undisturbed());
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

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aGrantThatIsLostCostsAPulse(boolean writes) {
        DistributedReadWriteLock held = of(undisturbed());
        Interlock session = session();
        DistributedReadWriteLock wanted = of(session);
        held.writeLock().lock();
        long before = proxy().droppedMessages();
        proxy().dropMessages(Requests.grant(session), 1);
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered =
                queue(waiter, writes ? wanted.writeLock()::lock : wanted.readLock()::lock, 1);
        held.writeLock().unlock();
        assertThat(entered).succeedsWithin(PROMPTLY);
        await("lost").until(() -> proxy().droppedMessages() > before);
        waiter.run(wanted.readLock()::assertHeld);
        waiter.run(writes ? wanted.writeLock()::unlock : wanted.readLock()::unlock);
    }

    /**
     * Of two readers who are granted together, one isn't told: it gets in beside the other, and the writer behind both.
     */
    @Test
    void oneOfTwoGrantsTogetherIsLost() {
        DistributedReadWriteLock held = of(undisturbed());
        Interlock told = session();
        Interlock untold = session();
        DistributedReadWriteLock first = of(told);
        DistributedReadWriteLock second = of(untold);
        DistributedReadWriteLock third = of(undisturbed());
        Actor one = actor("one");
        Actor two = actor("two");
        Actor writer = actor("writer");
        held.writeLock().lock();
        CompletableFuture<Boolean> readsOne = queue(one, first.readLock()::lock, 1);
        CompletableFuture<Boolean> readsTwo = queue(two, second.readLock()::lock, 2);
        CompletableFuture<Boolean> writes = queue(writer, third.writeLock()::lock, 3);
        proxy().dropMessages(Requests.grant(untold), 1);
        held.writeLock().unlock();
        assertThat(readsOne).succeedsWithin(PROMPTLY);
        one.run(first.readLock()::unlock);
        assertThat(readsTwo).succeedsWithin(PROMPTLY);
        assertThat(writes).isNotDone();
        two.run(second.readLock()::assertHeld);
        two.run(second.readLock()::unlock);
        assertThat(writes).succeedsWithin(PROMPTLY);
        writer.run(third.writeLock()::unlock);
    }

    /** A grant that comes late, when the one it was for has left: it is given back. */
    @Test
    void aLateGrantIsGivenBack() {
        DistributedReadWriteLock held = of(undisturbed());
        Interlock session = session();
        DistributedReadWriteLock wanted = of(session);
        held.writeLock().lock();
        proxy().delayMessages(Requests.grant(session), Duration.ofMillis(700), 1);
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = queue(waiter, wanted.readLock()::lockInterruptibly, 1);
        held.writeLock().unlock();
        awaitWaiting(0);
        waiter.interrupt();
        assertThat(entered).failsWithin(PROMPTLY);
        awaitFree(KEY);
        assertAvailable();
    }

    /** Every mailbox is gone at the very moment of the turn: from a writer to readers, from readers to a writer. */
    @Test
    void turnsFindTheMailboxesCutOff() {
        List<DistributedReadWriteLock> locks = List.of(of(session()), of(session()));
        List<Actor> actors = List.of(actor("first"), actor("second"));
        actors.get(0).run(locks.get(0).writeLock()::lock);
        int rounds = 12;
        for (int round = 0; round < rounds; round++) {
            int holder = round % 2;
            int waiter = 1 - holder;
            // In turn: the first reads after the second's writing, and so on.
            boolean isWritten = round % 4 == 0 || round % 4 == 3;
            boolean writes = (round + 1) % 4 == 0 || (round + 1) % 4 == 3;
            if (!isWritten && !writes) {
                writes = true;
            }
            DistributedReadWriteLock wanted = locks.get(waiter);
            CompletableFuture<Boolean> entered =
                    actors.get(waiter).begin(writes ? wanted.writeLock()::lock : wanted.readLock()::lock);
            awaitWaiting(1);
            killMailboxes();
            leave(actors.get(holder), locks.get(holder));
            assertThat(entered).as("round %d", round).succeedsWithin(PROMPTLY);
            actors.get(waiter).run(wanted.readLock()::assertHeld);
        }
        leave(actors.get(rounds % 2), locks.get(rounds % 2));
    }

    private static void leave(Actor actor, DistributedReadWriteLock lock) {
        actor.run(() -> {
            if (lock.isWriteLockedByCurrentThread()) {
                lock.writeLock().unlock();
            } else {
                lock.readLock().unlock();
            }
        });
    }

    /** With all messages lost, and all connections cut now and then, reading and writing still alternate. */
    @Test
    void sessionsThatHearNothingStillTakeTurns() {
        proxy().dropMessages(words -> words.get(0).equals("message"), FaultProxy.ALWAYS);
        List<DistributedReadWriteLock> locks = List.of(of(session()), of(session()));
        List<Actor> actors = List.of(actor("first"), actor("second"));
        for (int round = 0; round < 2; round++) {
            DistributedReadWriteLock first = locks.get(0);
            DistributedReadWriteLock second = locks.get(1);
            actors.get(0).run(first.writeLock()::lock);
            CompletableFuture<Boolean> reads = actors.get(1).begin(second.readLock()::lock);
            awaitWaiting(1);
            proxy().cut();
            actors.get(0).run(first.writeLock()::unlock);
            assertThat(reads).as("reads, round %d", round).succeedsWithin(REPEATED);
            CompletableFuture<Boolean> writes = actors.get(0).begin(first.writeLock()::lock);
            awaitWaiting(1);
            proxy().cut();
            actors.get(1).run(second.readLock()::unlock);
            assertThat(writes).as("writes, round %d", round).succeedsWithin(REPEATED);
            actors.get(0).run(first.writeLock()::unlock);
        }
    }
}
