package dev.interlock.barrier.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What tests of barriers need of a faulty network. */
abstract class BarrierFaultFixture extends FaultFixture {
    static final String NAME = "step";
    static final String KEY = "interlock:{" + NAME + "}:barrier";

    private static final int FIRST_KEY = 3;
    private static final int SESSION = 7;
    private static final int MEMBERSHIP = 11;

    private final List<Interlock> members = new ArrayList<>();

    /** Has Redis know the script that these tests wait for. */
    @BeforeEach
    void useScript() {
        Interlock session = undisturbed();
        session.cyclicBarrier("warm", 1);
        session.close();
        flushAll();
    }

    final void flushAll() {
        server().command("FLUSHALL");
    }

    /** Commands about the barrier. */
    static Predicate<List<String>> meeting() {
        return words ->
                words.get(0).equalsIgnoreCase("EVALSHA") && words.get(FIRST_KEY).equals(KEY);
    }

    /** Of these, the ones of a session. */
    static Predicate<List<String>> meetingOf(Interlock session) {
        return meeting()
                .and(words -> words.get(SESSION).equals(session.id())
                        && !words.get(MEMBERSHIP).equals("leave"));
    }

    /** Messages that tell a session of the end of a generation. */
    static Predicate<List<String>> mailTo(Interlock session) {
        return words -> words.get(1).equals("interlock:mailbox:" + session.id())
                && words.get(2).startsWith("t ");
    }

    final DistributedCyclicBarrier of(Interlock session, int parties) {
        members.add(session);
        return session.cyclicBarrier(NAME, parties);
    }

    final DistributedCyclicBarrier of(Interlock session, int parties, Runnable action) {
        members.add(session);
        return session.cyclicBarrier(NAME, parties, action);
    }

    /** Who holds a barrier is a member of it, so its sessions have to end before nothing is left. */
    @AfterEach
    void endMemberships() {
        proxy().heal();
        members.forEach(Interlock::close);
        members.clear();
    }

    final long stored(String field) {
        Object value = server().command("HGET", KEY, field);
        return value == null ? -1 : Long.parseLong(String.valueOf(value));
    }

    final String state() {
        return String.valueOf(server().command("HGET", KEY, "state"));
    }

    final void awaitArrived(int count) {
        await(count + " arrived").until(() -> stored("arrived") == count);
    }

    /** Lets a thread come; the result is its index, or what it met. */
    final CompletableFuture<Integer> come(DistributedCyclicBarrier barrier) {
        return actor("party").ask(barrier::await);
    }

    final CompletableFuture<Integer> come(DistributedCyclicBarrier barrier, Duration time) {
        return actor("party").ask(() -> barrier.await(time.toNanos(), TimeUnit.NANOSECONDS));
    }

    static void assertThrows(CompletableFuture<?> party, Duration within, Class<? extends Throwable> expected) {
        assertThat(party).failsWithin(within).withThrowableThat().withCauseExactlyInstanceOf(expected);
    }

    /** Asserts that each of these trips it, together with this thread's actors. */
    final void assertTrips(DistributedCyclicBarrier... ends) {
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

    final Actor resetter() {
        return actor("resetter");
    }

    /** Asserts that a generation trips when the last party comes here, and that one that waits is let go by it. */
    final void assertTripsWith(
            DistributedCyclicBarrier last,
            CompletableFuture<Integer> first,
            Duration lastWithin,
            Duration firstWithin) {
        assertThat(come(last)).succeedsWithin(lastWithin).isEqualTo(0);
        assertThat(first).succeedsWithin(firstWithin).isEqualTo(1);
    }
}
