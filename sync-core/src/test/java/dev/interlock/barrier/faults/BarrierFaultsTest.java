package dev.interlock.barrier.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Members of a barrier that Redis, or their own JVM, has forgotten: none of them passes with one that is gone. */
class BarrierFaultsTest extends FaultFixture {
    private static final String NAME = "step";
    private static final String KEY = "interlock:{" + NAME + "}:barrier";
    private static final Duration LEASE = Duration.ofSeconds(3);

    private final List<Interlock> members = new ArrayList<>();

    /** Loads the script that these tests wait for into Redis. */
    @BeforeEach
    void useScript() {
        Interlock session = undisturbed();
        session.cyclicBarrier("warm", 1);
        session.close();
        flushAll();
    }

    private void flushAll() {
        server().command("FLUSHALL");
    }

    private DistributedCyclicBarrier of(Interlock session, int parties) {
        members.add(session);
        return session.cyclicBarrier(NAME, parties);
    }

    /** A session with a barrier is a member of it, so keys remain until the sessions end. */
    @AfterEach
    void endMemberships() {
        proxy().heal();
        members.forEach(Interlock::close);
        members.clear();
    }

    private long stored(String field) {
        Object value = server().command("HGET", KEY, field);
        return value == null ? -1 : Long.parseLong(String.valueOf(value));
    }

    private void awaitArrived(int count) {
        await(count + " arrived").until(() -> stored("arrived") == count);
    }

    /** Lets a thread come; the result is its index, or what it met. */
    private CompletableFuture<Integer> come(DistributedCyclicBarrier barrier) {
        return actor("party").ask(barrier::await);
    }

    private static void assertThrows(CompletableFuture<?> party, Duration within, Class<? extends Throwable> expected) {
        assertThat(party).failsWithin(within).withThrowableThat().withCauseExactlyInstanceOf(expected);
    }

    /** Asserts that each of these trips it, together with this thread's actors. */
    private void assertTrips(DistributedCyclicBarrier... ends) {
        List<CompletableFuture<Integer>> parties = new ArrayList<>();
        for (int i = 0; i < ends[0].getParties(); i++) {
            parties.add(come(ends[i % ends.length]));
        }
        List<Integer> indices = new ArrayList<>();
        for (CompletableFuture<Integer> party : parties) {
            assertThat(party).succeedsWithin(PATIENCE);
            indices.add(party.join());
        }
        List<Integer> expected = new ArrayList<>();
        for (int i = 0; i < parties.size(); i++) {
            expected.add(i);
        }
        assertThat(indices).containsExactlyInAnyOrderElementsOf(expected);
    }

    /** Asserts that a generation trips when the last party comes here, and that one that waits is let go by it. */
    private void assertTripsWith(
            DistributedCyclicBarrier last,
            CompletableFuture<Integer> first,
            Duration lastWithin,
            Duration firstWithin) {
        assertThat(come(last)).succeedsWithin(lastWithin).isEqualTo(0);
        assertThat(first).succeedsWithin(firstWithin).isEqualTo(1);
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
