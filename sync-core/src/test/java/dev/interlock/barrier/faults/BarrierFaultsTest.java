package dev.interlock.barrier.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Mailboxes go deaf, Redis is silent or forgets, sessions close: no thread hangs, and no generation mixes with the
 * next.
 */
class BarrierFaultsTest extends BarrierFaultFixture {
    private static final Duration LEASE = Duration.ofSeconds(3);

    /** Messages make it quick; the pulse finds out the same. */
    @Test
    void deafMailboxCostsAPulse() {
        Interlock session = session();
        DistributedCyclicBarrier barrier = of(session, 2);
        DistributedCyclicBarrier other = of(undisturbed(), 2);
        proxy().dropMessages(mailTo(session), FaultProxy.ALWAYS);
        CompletableFuture<Integer> first = come(barrier);
        awaitArrived(1);
        assertTripsWith(other, first, PROMPTLY, PROMPTLY);
        CompletableFuture<Integer> broken = come(barrier);
        awaitArrived(1);
        other.reset();
        assertThrows(broken, PROMPTLY, BrokenBarrierException.class);
        assertThat(proxy().droppedMessages()).isPositive();
    }

    /**
     * A session that heard nothing of its generation, nor of several that others had since, learns what became of its
     * own.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void missedGenerationsAreLearned(boolean trips) {
        Interlock session = session();
        DistributedCyclicBarrier barrier = of(session, 2);
        DistributedCyclicBarrier other = of(undisturbed(), 2);
        CompletableFuture<Integer> first = come(barrier);
        awaitArrived(1);
        proxy().stall();
        if (trips) {
            assertThat(come(other)).succeedsWithin(PROMPTLY).isEqualTo(0);
        } else {
            other.reset();
        }
        for (int i = 0; i < 3; i++) {
            assertTrips(other, other);
        }
        other.reset();
        proxy().resume();
        if (trips) {
            assertThat(first).succeedsWithin(PATIENCE).isEqualTo(1);
        } else {
            assertThrows(first, PATIENCE, BrokenBarrierException.class);
        }
        assertTrips(barrier, other);
    }

    @Test
    void killedMailboxIsReopened() {
        Interlock session = session();
        DistributedCyclicBarrier barrier = of(session, 2);
        DistributedCyclicBarrier other = of(undisturbed(), 2);
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Integer> first = come(barrier);
            awaitArrived(1);
            server().command("CLIENT", "KILL", "TYPE", "pubsub");
            assertTripsWith(other, first, PATIENCE, PATIENCE);
        }
    }

    @Test
    void forgottenScriptsCostNothing() {
        DistributedCyclicBarrier barrier = of(session(), 2);
        DistributedCyclicBarrier other = of(session(), 2);
        for (int i = 0; i < 3; i++) {
            forgetScripts();
            CompletableFuture<Integer> first = come(barrier);
            awaitArrived(1);
            forgetScripts();
            assertTripsWith(other, first, PATIENCE, PATIENCE);
        }
    }

    /** Redis goes back to an older copy, in which a thread has arrived that has long gone: nobody passes with that. */
    @Test
    void anOlderCopyBreaks() {
        DistributedCyclicBarrier barrier = of(session(), 2);
        DistributedCyclicBarrier other = of(session(), 2);
        CompletableFuture<Integer> first = come(barrier);
        awaitArrived(1);
        saveCopy();
        assertTripsWith(other, first, PATIENCE, PATIENCE);
        goBack();
        assertThat(stored("arrived")).isEqualTo(1);
        for (int i = 0; i < 2; i++) {
            assertThrows(come(other), PATIENCE, BrokenBarrierException.class);
        }
        assertThat(barrier.isBroken()).isTrue();
        other.reset();
        assertTrips(barrier, other);
    }

    /** All that wait are broken, and so is the barrier, until somebody resets it. */
    @Test
    void emptyRedisBreaks() {
        DistributedCyclicBarrier barrier = of(session(b -> b.lease(LEASE)), 3);
        DistributedCyclicBarrier other = of(session(b -> b.lease(LEASE)), 3);
        CompletableFuture<Integer> first = come(barrier);
        CompletableFuture<Integer> second = come(other);
        awaitArrived(2);
        server().restart();
        assertThrows(first, LEASE.plus(PROMPTLY), BrokenBarrierException.class);
        assertThrows(second, LEASE.plus(PROMPTLY), BrokenBarrierException.class);
        assertThrows(come(barrier), PROMPTLY, BrokenBarrierException.class);
        assertThat(other.isBroken()).isTrue();
        other.reset();
        assertTrips(barrier, other);
    }

    /**
     * Who didn't wait when the data was lost is told so at its next use, or by a barrier that another one has broken
     * meanwhile.
     */
    @Test
    void idleMembersKnowOfLostData() {
        DistributedCyclicBarrier barrier = of(session(b -> b.lease(LEASE)), 2);
        DistributedCyclicBarrier other = of(session(b -> b.lease(LEASE)), 2);
        flushAll();
        DistributedCyclicBarrier newcomer = of(undisturbed(), 2);
        CompletableFuture<Integer> waits = come(newcomer);
        awaitArrived(1);
        assertThrows(come(barrier), PROMPTLY, BrokenBarrierException.class);
        assertThrows(waits, PROMPTLY, BrokenBarrierException.class);
        assertThat(newcomer.isBroken()).isTrue();
        newcomer.reset();
        // The other one is late: what is over isn't broken anew on its account.
        assertThrows(come(other), PROMPTLY, BrokenBarrierException.class);
        assertTrips(barrier, other, newcomer);
    }

    /**
     * Nobody uses it: the lease renewers find out within a third of the lease, and a newcomer doesn't wait for those
     * who have gone.
     */
    @Test
    void idleBarrierIsBrokenInTime() {
        of(session(b -> b.lease(LEASE)), 2);
        DistributedCyclicBarrier kept = of(session(b -> b.lease(LEASE)), 2);
        flushAll();
        DistributedCyclicBarrier newcomer = of(undisturbed(), 2);
        assertThrows(come(newcomer), LEASE.plus(PROMPTLY), BrokenBarrierException.class);
        assertThat(kept.isBroken()).isTrue();
    }

    /**
     * A timed wait has its time and one command time-out; what it has said before is taken back when Redis is there
     * again.
     */
    @Test
    void silentRedisEndsTimedWait() {
        // What it says last has to time out.
        DistributedCyclicBarrier barrier = of(impatient(), 2);
        DistributedCyclicBarrier other = of(undisturbed(), 2);
        CompletableFuture<Integer> late = come(barrier, Duration.ofSeconds(1));
        awaitArrived(1);
        proxy().stall();
        assertThrows(late, Duration.ofSeconds(1).plus(SHORT_TIMEOUT).plus(SLACK), RedisUnavailableException.class);
        assertThat(state()).isEqualTo("open");
        proxy().resume();
        await("broken").until(other::isBroken);
        other.reset();
        assertTrips(barrier, other);
    }

    @Test
    void silentRedisEndsUntimedWait() {
        // Its questions have to time out.
        DistributedCyclicBarrier barrier = of(impatient(b -> b.redisTimeout(Duration.ofSeconds(1))), 3);
        DistributedCyclicBarrier other = of(undisturbed(), 3);
        CompletableFuture<Integer> first = come(barrier);
        CompletableFuture<Integer> second = come(other);
        awaitArrived(2);
        proxy().stall();
        assertThrows(first, PATIENCE, RedisUnavailableException.class);
        proxy().resume();
        assertThrows(second, PATIENCE, BrokenBarrierException.class);
        other.reset();
        assertTrips(barrier, other);
    }

    /** An answer that was true when it was given says nothing of a thread that has come since. */
    @Test
    void lateAnswerBreaksNobodyWhoHasComeSince() throws Exception {
        Interlock session = session();
        DistributedCyclicBarrier barrier = of(session, 2);
        DistributedCyclicBarrier other = of(undisturbed(), 2);
        assertThrows(come(other, Duration.ofMillis(1)), PROMPTLY, TimeoutException.class);
        Object before = server().command("HGET", KEY, session.id());
        proxy().delayReplies(meetingOf(session), COMMAND_TIMEOUT.dividedBy(2), 1);
        CompletableFuture<Boolean> broken = actor("asking").ask(barrier::isBroken);
        await("asked").until(() -> !Objects.equals(server().command("HGET", KEY, session.id()), before));
        other.reset();
        assertTrips(barrier, other);
        assertThat(broken).succeedsWithin(PROMPTLY);
    }

    /**
     * An interrupt while Redis is silent: the thread doesn't know whether it has broken anything, and keeps its flag.
     */
    @Test
    void silentRedisEndsInterruptedWait() {
        // What it says last has to time out.
        DistributedCyclicBarrier barrier = of(impatient(), 2);
        DistributedCyclicBarrier other = of(undisturbed(), 2);
        Actor actor = actor("interrupted");
        CompletableFuture<Boolean> flagged = actor.ask(() -> {
            try {
                barrier.await();
                return false;
            } catch (RedisUnavailableException e) {
                return Thread.interrupted();
            }
        });
        awaitArrived(1);
        proxy().stall();
        actor.interrupt();
        assertThat(flagged).succeedsWithin(SHORT_TIMEOUT.plus(PROMPTLY)).isEqualTo(true);
        proxy().resume();
        await("broken").until(other::isBroken);
    }

    /**
     * Redis is away for longer than the lease of who runs the action: the generation is broken, and that thread is
     * told.
     */
    @Test
    void actionOutlivesItsLease() {
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch proceed = new CountDownLatch(1);
        // Its end is awaited.
        Duration lease = Duration.ofSeconds(3);
        DistributedCyclicBarrier barrier = of(session(b -> b.lease(lease)), 2, () -> {
            began.countDown();
            Uninterruptibles.awaitUninterruptibly(proceed);
        });
        DistributedCyclicBarrier other = of(undisturbed(), 2);
        CompletableFuture<Integer> first = come(other);
        awaitArrived(1);
        CompletableFuture<Integer> last = come(barrier);
        await("the action").until(() -> began.getCount() == 0);
        proxy().stall();
        assertThrows(first, lease.plus(PROMPTLY), BrokenBarrierException.class);
        proxy().resume();
        proceed.countDown();
        assertThrows(last, PATIENCE, BrokenBarrierException.class);
    }

    @Test
    void closingBreaksIfThreadsWait() {
        Interlock session = session();
        Interlock idle = session();
        DistributedCyclicBarrier barrier = of(session, 3);
        DistributedCyclicBarrier unused = of(idle, 3);
        DistributedCyclicBarrier other = of(undisturbed(), 3);
        CompletableFuture<Integer> first = come(barrier);
        CompletableFuture<Integer> second = come(other);
        awaitArrived(2);
        idle.close();
        assertThat(state()).isEqualTo("open");
        assertThat(stored("arrived")).isEqualTo(2);
        assertThatIllegalStateException().isThrownBy(unused::await);
        session.close();
        assertThrows(first, PROMPTLY, IllegalStateException.class);
        assertThrows(second, PROMPTLY, BrokenBarrierException.class);
        other.reset();
        assertTrips(other);
        assertThatIllegalStateException().isThrownBy(barrier::await);
        assertThatIllegalStateException().isThrownBy(barrier::reset);
        assertThatIllegalStateException().isThrownBy(barrier::isBroken);
    }

    /** An object that nobody refers to any more ends the membership, unless a thread waits. */
    @Test
    void unreferencedObjectLeaves() {
        Interlock session = session();
        CompletableFuture<Integer> first =
                actor("party").ask(() -> session.cyclicBarrier(NAME, 2).await());
        awaitArrived(1);
        System.gc();
        Object members = server().command("ZCARD", KEY + "-members");
        assertThat(members).isEqualTo(1L);
        Interlock other = session();
        assertThat(actor("party").ask(() -> other.cyclicBarrier(NAME, 2).await()))
                .succeedsWithin(PROMPTLY)
                .isEqualTo(0);
        assertThat(first).succeedsWithin(PROMPTLY).isEqualTo(1);
        await("no member").until(() -> {
            System.gc();
            return server().keys().stream().noneMatch(KEY::equals);
        });
        assertTrips(of(session, 3), of(other, 3));
    }
}
