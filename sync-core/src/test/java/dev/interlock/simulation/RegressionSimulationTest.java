package dev.interlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the simulation has found, in plans that have little else in them. */
@Tag("proof")
class RegressionSimulationTest {
    private static final long MILLI = 1_000_000;
    private static final int SEEDS = 100;

    private static Plan plan(long seed, Kind kind, List<Fault.Kind> faults, Call... calls) {
        SplittableRandom random = new SplittableRandom(seed);
        List<List<List<Op>>> programs = new ArrayList<>();
        for (int jvm = 0; jvm < 2; jvm++) {
            List<List<Op>> threads = new ArrayList<>();
            for (int thread = 0; thread < 3; thread++) {
                threads.add(Stream.generate(() -> op(random, calls)).limit(15).toList());
            }
            programs.add(threads);
        }
        List<Fault> all = faults.stream()
                .map(fault -> new Fault(fault, random.nextInt(2), at(fault, random) * MILLI, MILLI))
                .toList();
        return new Plan(seed, List.of(kind), Collections.nCopies(programs.size(), 1_000L), 1_000, MILLI, programs, all);
    }

    // A replica is 50 ms behind.
    private static long at(Fault.Kind fault, SplittableRandom random) {
        return random.nextLong(5, 15) + (fault == Fault.Kind.FAILOVER ? 50 : 0);
    }

    private static Op op(SplittableRandom random, Call... calls) {
        Call call = calls[random.nextInt(calls.length)];
        return new Op(call, 0, random.nextLong(2 * MILLI), random.nextLong(MILLI), random.nextLong(1, 100) * MILLI);
    }

    private static void check(Kind kind, List<Fault.Kind> faults, Call... calls) {
        check(seed -> plan(seed, kind, faults, calls));
    }

    private static void check(LongFunction<Plan> plans) {
        Search search = new Search(plans);
        for (long seed = 1; seed <= SEEDS; seed++) {
            assertThat(search.of(seed)).as("a schedule that fails").isNull();
        }
    }

    /**
     * An untimed try failed, although two of three nodes answered, if another session had the vote of one of them and
     * that one said so after the third had failed, and before the second answered.
     */
    @Test
    void aTryFailsOnlyIfNoMajorityAnswers() {
        check(Kind.QUORUM_LOCK, Collections.nCopies(10, Fault.Kind.DOWN), Call.TRY_LOCK);
    }

    /**
     * The vote of a node was not given back, since the release that the node missed was repeated for the last lease
     * only, not for the longer one of the thread before.
     */
    @ParameterizedTest
    @ValueSource(longs = {0, 2, 4})
    void aReleaseIsRepeatedForTheLongestLease(long seed) {
        List<List<List<Op>>> programs = List.of(List.of(
                List.of(new Op(Call.LOCK, 0, 0, 10 * MILLI, 0)),
                List.of(new Op(Call.LOCK_WITH_LEASE, 0, 5 * MILLI, MILLI, 1_500 * MILLI))));
        Fault fault = new Fault(Fault.Kind.LOST_REQUESTS, 0, 8 * MILLI, 50 * MILLI);
        Plan plan = new Plan(
                seed, List.of(Kind.QUORUM_LOCK), List.of(30_000L), 3_000, 100 * MILLI, programs, List.of(fault));
        assertThat(Simulation.run(plan, false).violation()).isNull();
    }

    /** A thread waited for ever whose permit another one had drained before it woke up. */
    @Test
    void aDrainLeavesNoWaiterBehind() {
        check(Kind.FAIR_SEMAPHORE, List.of(), Call.DRAIN, Call.ACQUIRE, Call.ACQUIRE_SEVERAL);
    }

    /** A session with a lease of a second lost its place in the queue each time before the next pulse beat. */
    @ParameterizedTest
    @ValueSource(longs = {4, 5, 31, 32})
    void aShortLeaseCostsNoPlace(long seed) {
        List<List<Op>> others = List.of(Collections.nCopies(3, new Op(Call.ACQUIRE, 0, 0, 2_500 * MILLI, 0)));
        List<List<Op>> waiter = List.of(List.of(new Op(Call.ACQUIRE, 0, 3_000 * MILLI, MILLI, 0)));
        List<List<List<Op>>> programs = List.of(waiter, others, others, others);
        List<Long> leases = List.of(1_000L, 30_000L, 30_000L, 30_000L);
        Plan plan = new Plan(seed, List.of(Kind.FAIR_SEMAPHORE), leases, 1_000, 10 * MILLI, programs, List.of());
        assertThat(Simulation.run(plan, false).violation()).isNull();
    }

    /** A thread had a permit that the session, which was closed before the answer came, had given back. */
    @Test
    void whatIsTakenWhileTheSessionIsClosedIsNotAcquired() {
        check(Kind.SEMAPHORE, List.of(Fault.Kind.CLOSE, Fault.Kind.CLOSE), Call.DRAIN, Call.TRY_ACQUIRE);
    }

    /** Threads waited for ever, even those with a time-out, in a generation that Redis had lost. */
    @Test
    void aFailoverThatLosesGenerationsBreaksThem() {
        check(Kind.BARRIER, List.of(Fault.Kind.FAILOVER), Call.MEET_TIMED, Call.RESET, Call.MEET);
    }

    /** A set of members that was evicted and begun anew had no TTL, and outlived a barrier whose member had died. */
    @Test
    void membersThatWereEvictedAreForgottenInTheEnd() {
        List<List<List<Op>>> programs = List.of(
                List.of(List.of(new Op(Call.MEET_TIMED, 0, 0, 0, 9 * MILLI))),
                List.of(List.of(new Op(Call.MEET_TIMED, 0, 0, 0, MILLI))));
        List<Fault> faults =
                List.of(new Fault(Fault.Kind.EVICTION, 0, MILLI, 0), new Fault(Fault.Kind.DEATH, 0, 40 * MILLI, 0));
        List<Long> leases = List.of(30_000L, 1_000L);
        check(seed -> new Plan(seed, List.of(Kind.BARRIER), leases, 300, MILLI, programs, faults));
    }

    /**
     * A session that had permits, and was the first to wait for more, did not hear of the next one that came to wait:
     * its threads went on with what others released for up to a second.
     */
    @ParameterizedTest
    @EnumSource(names = {"SEMAPHORE", "FAIR_SEMAPHORE"})
    void aHolderThatWaitsItselfHearsOfTheNextOneThatDoes(Kind kind) {
        Op first = new Op(Call.ACQUIRE, 0, 0, 300 * MILLI, 0);
        Op other = new Op(Call.ACQUIRE, 0, 50 * MILLI, MILLI, 0);
        // Two always wait for the third: so their session has nothing to ask for.
        List<Op> many = join(
                new Op(Call.ACQUIRE, 0, MILLI, MILLI, 0),
                Collections.nCopies(100, new Op(Call.ACQUIRE, 0, 0, MILLI, 0)));
        List<List<List<Op>>> programs = List.of(List.of(List.of(first), many, many, many), List.of(List.of(other)));
        // Of these seeds each has one permit.
        check(seed ->
                new Plan(28 * seed, List.of(kind), List.of(30_000L, 30_000L), 1_000, 10 * MILLI, programs, List.of()));
    }

    private static List<Op> join(Op first, List<Op> others) {
        return Stream.concat(Stream.of(first), others.stream()).toList();
    }

    /**
     * The reply to a release was lost, and its session was cut off until Redis had forgotten its account: so it said
     * once more by how much it enlarged the pool. What was granted by a reply that was lost did not come back.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void permitsAreCountedOnceHoweverLongTheirSessionIsCutOff(boolean released) {
        List<Op> own = released
                ? List.of(new Op(Call.ACQUIRE, 0, 0, 8 * MILLI, 0))
                : List.of(new Op(Call.ACQUIRE, 0, 0, 0, 0), new Op(Call.ACQUIRE, 0, 8 * MILLI, 0, 0));
        Op closes = new Op(Call.ACQUIRE, 0, 50_000 * MILLI, 0, 0);
        Op joins = new Op(Call.ACQUIRE, 0, 396_000 * MILLI, 0, 0);
        List<List<List<Op>>> programs = List.of(List.of(own), List.of(List.of(closes)), List.of(List.of(joins)));
        List<Fault> faults = List.of(
                new Fault(Fault.Kind.LOST_REPLIES, 0, 7 * MILLI, 8 * MILLI),
                new Fault(Fault.Kind.LOST_REQUESTS, 0, 13 * MILLI, 400_000 * MILLI));
        List<Long> leases = List.of(1_000L, 1_000L, 1_000L);
        // Permits of some of these seeds belong to nobody.
        for (long seed = 1; seed <= 12; seed++) {
            Plan plan = new Plan(seed, List.of(Kind.SEMAPHORE), leases, 300, MILLI, programs, faults);
            assertThat(Simulation.run(plan, false).violation()).isNull();
        }
    }

    /** Redis refused a release for longer than a lease, and its session had nothing else to say. */
    @Test
    void permitsThatBelongToNobodyComeBackWhenTheirReleaseIsRefusedNoMore() {
        Op holds = new Op(Call.ACQUIRE, 0, 0, 1_000 * MILLI, 0);
        List<List<List<Op>>> programs = List.of(List.of(List.of()), List.of(List.of(holds)));
        List<Fault> faults = List.of(new Fault(Fault.Kind.NO_PERMISSION, 0, 500 * MILLI, 1_000 * MILLI));
        check(seed -> new Plan(
                // Permits of these seeds belong to nobody.
                9 * seed, List.of(Kind.SEMAPHORE), List.of(1_000L, 1_000L), 300, MILLI, programs, faults));
    }

    /** Drained permits stayed with their session if the answer was lost and Redis then refused the repeated command. */
    @ParameterizedTest
    @EnumSource(names = {"SEMAPHORE", "FAIR_SEMAPHORE"})
    void whatIsTakenBeforeARefusalGoesBack(Kind kind) {
        Op first = new Op(Call.ACQUIRE, 0, 0, MILLI, 0);
        List<List<List<Op>>> programs = List.of(List.of(List.of(first, new Op(Call.DRAIN, 0, 20 * MILLI, 0, 0))));
        List<Fault> faults = List.of(
                new Fault(Fault.Kind.LOST_REPLIES, 0, 10 * MILLI, 100 * MILLI),
                new Fault(Fault.Kind.NO_PERMISSION, 0, 50 * MILLI, 1_000 * MILLI));
        check(seed -> new Plan(seed, List.of(kind), List.of(10_000L), 300, MILLI, programs, faults));
    }

    /** Each of a stranger's messages made its session send a release several times a second, for a whole lease. */
    @Test
    void whatAStrangerSpeaksOfDoesNotKeepRedisBusy() {
        Op waits = new Op(Call.TRY_LOCK_TIMED, 0, 0, MILLI, 35_000 * MILLI);
        Op holds = new Op(Call.LOCK, 0, 0, 40_000 * MILLI, 0);
        List<List<List<Op>>> programs = List.of(List.of(List.of(holds)), List.of(List.of(waits)));
        List<Fault> faults = List.of(
                new Fault(Fault.Kind.STRANGER, 1, MILLI, 3_000 * MILLI),
                new Fault(Fault.Kind.WRONG_TYPE, 0, 3 * MILLI, 40_000 * MILLI));
        Plan plan = new Plan(3, List.of(Kind.FAIR_LOCK), List.of(30_000L, 30_000L), 300, MILLI, programs, faults);
        assertThat(Simulation.run(plan, false).violation()).isNull();
    }

    /**
     * A ticket whose fixed lease was over before its session knew of the grant stood in front of one that was granted
     * later. So that one was released unused, and asked for again before the release had come: two owned the lock.
     */
    @Test
    void aTicketThatWasPassedOverIsAskedForAnew() {
        Op lock = new Op(Call.LOCK, 0, 3 * MILLI, 3 * MILLI, 0);
        Op atOnce = new Op(Call.LOCK, 0, 0, MILLI, 0);
        Op late = new Op(Call.LOCK, 0, 100 * MILLI, MILLI, 0);
        Op later = new Op(Call.LOCK, 0, 200 * MILLI, MILLI, 0);
        Op leased = new Op(Call.LOCK_WITH_LEASE, 0, 20 * MILLI, MILLI, 450 * MILLI);
        List<Op> many = join(later, Collections.nCopies(15, lock));
        List<List<List<Op>>> programs =
                List.of(List.of(List.of(leased, atOnce), List.of(late), List.of(late)), List.of(many, many));
        List<Fault> faults = List.of(new Fault(Fault.Kind.LOST_REPLIES, 0, 15 * MILLI, 590 * MILLI));
        List<Long> leases = List.of(30_000L, 30_000L);
        check(seed -> new Plan(seed, List.of(Kind.FAIR_LOCK), leases, 300, MILLI, programs, faults));
    }

    /**
     * The clean-up of a name that a session had kept had the local half for an instant, and a thread that came in that
     * instant was refused, though nobody was inside.
     */
    @ParameterizedTest
    @EnumSource(
            value = Call.class,
            names = {"TRY_LOCK", "TRY_LOCK_AT_ONCE", "TRY_READ", "TRY_READ_AT_ONCE"})
    void aCleanUpRefusesNobody(Call call) {
        assumeFalse(Pending.CALLS.contains(call) || Pending.TRAITS.contains(Trait.TASKS_ARE_PREEMPTED));
        boolean reads = !call.kinds().contains(Kind.PLAIN_LOCK);
        Kind kind = reads ? Kind.READ_WRITE_LOCK : Kind.PLAIN_LOCK;
        Op holds = new Op(reads ? Call.READ : Call.LOCK, 0, 0, 0, 0);
        // Of those with adaptive retention, whose releases aren't waited for.
        for (long seed = 2; seed < 200; seed += 8) {
            SplittableRandom random = new SplittableRandom(seed);
            List<Op> program = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                program.addAll(Collections.nCopies(8, holds));
                program.add(new Op(call, 0, random.nextLong(10 * MILLI, 13 * MILLI), 0, 0));
            }
            Plan plan = new Plan(
                    seed, List.of(kind), List.of(30_000L), 1_000, 10 * MILLI, List.of(List.of(program)), List.of());
            assertThat(Simulation.run(plan, false).violation())
                    .as("seed %d", seed)
                    .isNull();
        }
    }

    /**
     * A thread that unlocked and tried again was refused by a ticket that nobody wanted any more: its withdrawal was on
     * its way when the request overtook the release, and so had Redis grant that ticket the lock.
     */
    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"PLAIN_LOCK", "RETAINED_LOCK", "FAIR_LOCK", "READ_WRITE_LOCK", "FAIR_READ_WRITE_LOCK"})
    void aLateWithdrawalRefusesNobody(Kind kind) {
        boolean reads = Call.TRY_READ.kinds().contains(kind);
        check(seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            List<Op> tries = new ArrayList<>();
            List<Op> locks = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                long wait = random.nextLong(MILLI / 10, 2 * MILLI);
                tries.add(new Op(Call.TRY_LOCK_TIMED, 0, random.nextLong(2 * MILLI), 0, wait));
                locks.add(new Op(Call.LOCK, 0, random.nextLong(MILLI), random.nextLong(2 * MILLI), 0));
                locks.add(new Op(reads && random.nextBoolean() ? Call.TRY_READ : Call.TRY_LOCK, 0, 0, 0, 0));
            }
            // In two JVMs, or in one.
            List<List<List<Op>>> programs =
                    seed % 2 == 0 ? List.of(List.of(tries), List.of(locks)) : List.of(List.of(tries, locks), List.of());
            return new Plan(seed, List.of(kind), List.of(3_000L, 3_000L), 1_000, 10 * MILLI, programs, List.of());
        });
    }
}
