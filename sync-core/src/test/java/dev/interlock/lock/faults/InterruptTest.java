package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Interrupts and time-outs at any moment leave nothing behind: no hold, no ticket, no tenure that nobody wants. */
class InterruptTest extends FaultFixture {
    private static final String NAME = "stock";

    /** What a waiter did. */
    private enum Outcome {
        ENTERED,
        TIMED_OUT,
        INTERRUPTED
    }

    private static Outcome waitFor(DistributedReentrantLock lock, int way, long micros) {
        try {
            boolean entered = true;
            switch (way) {
                case 0 -> lock.lockInterruptibly();
                case 1 -> entered = lock.tryLock(micros, TimeUnit.MICROSECONDS);
                case 2 -> entered = lock.tryLock(10, TimeUnit.SECONDS);
                default -> lock.lock();
            }
            if (!entered) {
                assertThat(lock.isHeldByCurrentThread()).isFalse();
                return Outcome.TIMED_OUT;
            }
            assertThat(lock.getHoldCount()).isEqualTo(1);
            lock.assertHeld();
            lock.unlock();
            return Outcome.ENTERED;
        } catch (InterruptedException e) {
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            return Outcome.INTERRUPTED;
        } catch (RedisUnavailableException e) {
            // On a busy machine, Redis may have had no time to answer within so few milliseconds.
            assertThat(way).isEqualTo(1);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            return Outcome.TIMED_OUT;
        }
    }

    /** Two sessions, two threads each: one holds and lets go at some moment, the others are interrupted at another. */
    private void interruptAtRandom(long seed, int rounds, long nanos) {
        Random random = new Random(seed);
        Interlock first = session();
        Interlock second = session();
        List<DistributedReentrantLock> locks =
                List.of(lock(first, NAME), lock(first, NAME), lock(second, NAME), lock(second, NAME));
        List<Actor> actors = List.of(actor("a-1"), actor("a-2"), actor("b-1"), actor("b-2"));
        Set<Outcome> outcomes = EnumSet.noneOf(Outcome.class);
        long end = System.nanoTime() + nanos;
        for (int round = 0; round < rounds && System.nanoTime() - end < 0; round++) {
            int holder = random.nextInt(4);
            actors.get(holder).run(locks.get(holder)::lock);
            List<CompletableFuture<Outcome>> waits = beginWaits(random, actors, locks, holder);
            boolean unlockFirst = random.nextBoolean();
            LockSupport.parkNanos(random.nextInt(4_000_000));
            CompletableFuture<Boolean> unlocked = unlockFirst
                    ? actors.get(holder).begin(locks.get(holder)::unlock)
                    : CompletableFuture.completedFuture(true);
            interruptSome(random, actors, holder);
            if (!unlockFirst) {
                LockSupport.parkNanos(random.nextInt(2_000_000));
                unlocked = actors.get(holder).begin(locks.get(holder)::unlock);
            }
            assertThat(unlocked).as("seed %d, round %d", seed, round).succeedsWithin(PATIENCE);
            for (CompletableFuture<Outcome> wait : waits) {
                assertThat(wait).as("seed %d, round %d", seed, round).succeedsWithin(PATIENCE);
                outcomes.add(wait.join());
            }
            String about = "seed " + seed + ", round " + round;
            awaitPromptly(about).until(() -> holder(NAME).isEmpty() && tickets(NAME) == 0);
            for (int i = 0; i < 4; i++) {
                actors.get(i).run(() -> assertThat(Thread.interrupted()).isIn(true, false));
                assertThat(actors.get(i).get(locks.get(i)::getHoldCount)).isZero();
            }
        }
        assertThat(outcomes).as("what has occurred").containsExactlyInAnyOrder(Outcome.values());
    }

    /** All but the holder begin to wait, each in a random way. */
    private static List<CompletableFuture<Outcome>> beginWaits(
            Random random, List<Actor> actors, List<DistributedReentrantLock> locks, int holder) {
        List<CompletableFuture<Outcome>> waits = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            if (i != holder) {
                DistributedReentrantLock lock = locks.get(i);
                int way = random.nextInt(4);
                long micros = random.nextInt(6_000);
                waits.add(actors.get(i).ask(() -> waitFor(lock, way, micros)));
            }
        }
        return waits;
    }

    private static void interruptSome(Random random, List<Actor> actors, int holder) {
        for (int i = 0; i < 4; i++) {
            if (i != holder && random.nextInt(4) > 0) {
                LockSupport.parkNanos(random.nextInt(600_000));
                actors.get(i).interrupt();
            }
        }
    }

    @Test
    void interruptsAtRandomMomentsLeaveNothingBehind() {
        interruptAtRandom(20_260_101, 200, Duration.ofSeconds(20).toNanos());
    }

    /** An interrupt that finds a thread re-entering what it holds takes nothing from it. */
    @Test
    void anInterruptedReentryKeepsTheLock() {
        DistributedReentrantLock lock = lock(session(), NAME);
        lock.lock();
        String owner = holder(NAME);
        Thread.currentThread().interrupt();
        assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> lock.tryLock(1, 1, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        assertThat(lock.getHoldCount()).isEqualTo(1);
        lock.assertHeld();
        assertThat(holder(NAME)).isEqualTo(owner);
        lock.unlock();
        awaitFree(NAME);
    }

    /** lock() is uninterruptible and unlock() is, too; both leave the flag as it was. */
    @Test
    void lockAndUnlockKeepTheFlag() {
        DistributedReentrantLock lock = lock(session(), NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor actor = actor("actor");
        other.lock();
        CompletableFuture<Boolean> entered = actor.ask(() -> {
            Thread.currentThread().interrupt();
            lock.lock();
            boolean kept = Thread.currentThread().isInterrupted();
            lock.assertHeld();
            lock.unlock();
            return kept && Thread.interrupted();
        });
        awaitTickets(NAME, 1);
        actor.interrupt();
        await("still waits").during(Duration.ofMillis(200)).until(() -> !entered.isDone());
        other.unlock();
        assertThat(entered).succeedsWithin(PROMPTLY).isEqualTo(true);
    }

    /** The place of a waiter that leaves goes to the thread behind it, not to the end of the remote queue. */
    @Test
    void aPlaceInTheQueueIsKeptForTheNextLocalThread() {
        DistributedReentrantLock held = lock(undisturbed(), NAME);
        DistributedReentrantLock lock = lock(session(), NAME);
        DistributedReentrantLock late = lock(session(), NAME);
        Actor front = actor("front");
        Actor next = actor("next");
        Actor last = actor("last");
        held.lock();
        CompletableFuture<Boolean> leaving = front.begin(lock::lockInterruptibly);
        awaitTickets(NAME, 1);
        CompletableFuture<Boolean> staying = next.begin(lock::lock);
        awaitQueued(lock, next);
        CompletableFuture<Boolean> behind = last.begin(late::lock);
        awaitTickets(NAME, 2);
        front.interrupt();
        assertThat(leaving).failsWithin(PROMPTLY);
        await("the next one waits remotely").until(() -> !lock.hasQueuedThread(next.thread()));
        assertThat(tickets(NAME)).isEqualTo(2);
        held.unlock();
        assertThat(staying).succeedsWithin(PROMPTLY);
        assertThat(behind).isNotDone();
        next.run(lock::unlock);
        assertThat(behind).succeedsWithin(PROMPTLY);
        last.run(late::unlock);
    }
}
