package dev.interlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.simulation.Fault.Kind;
import java.util.Collections;
import java.util.List;
import java.util.function.BinaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the simulation has found in read-write locks, in plans that are made for it, and that it would find it again.
 */
@Tag("proof")
class ReadWriteSimulationTest {
    private static final long MILLI = 1_000_000;
    private static final long SEEDS = 60;

    private static Op op(Call call, double thinkMillis, double holdMillis) {
        return new Op(call, 0, (long) (thinkMillis * MILLI), (long) (holdMillis * MILLI), 100 * MILLI);
    }

    private static List<Op> often(Op op) {
        return Collections.nCopies(40, op);
    }

    private static Plan plan(long seed, long leaseMillis, List<List<List<Op>>> programs, Fault... faults) {
        return new Plan(
                seed,
                List.of(dev.interlock.simulation.Kind.READ_WRITE_LOCK),
                Collections.nCopies(programs.size(), leaseMillis),
                3_000,
                MILLI,
                programs,
                List.of(faults));
    }

    private static void assertHolds(Plan plan) {
        assertThat(Simulation.run(plan, false).violation()).isNull();
    }

    private static boolean isFoundIn(List<List<List<Op>>> programs, BinaryOperator<String> change) {
        return LongStream.range(0, SEEDS)
                .mapToObj(seed -> Simulation.run(plan(seed, 10_000, programs), false, change))
                .anyMatch(outcome -> outcome.violation() != null);
    }

    @Test
    void readersOfSeveralSessionsAreInsideTogether() {
        List<List<Op>> readers = List.of(often(op(Call.READ, 1, 5)));
        Simulation.Outcome outcome = Simulation.run(plan(1, 10_000, List.of(readers, readers)), true);
        assertThat(outcome.violation()).isNull();
        assertThat(outcome.trace().toString()).contains("reads beside another session");
    }

    /** Signals are sent ahead for a thread that goes on, and then find a reader where they expect the owner. */
    @Test
    void downgradeThatOvertakesSignalsIsNoLoss() {
        List<List<List<Op>>> programs = List.of(
                List.of(often(op(Call.PUT, 1, 1)), often(op(Call.DOWNGRADE, 1, 0)), often(op(Call.DOWNGRADE, 1, 0))),
                List.of(often(op(Call.TAKE, 0, 0)), often(op(Call.LOCK, 5, 0))));
        assertThat(isFoundIn(programs, (script, text) -> text)).isFalse();
    }

    /** A session that gets a waiter's ticket withdraws the one that it has asked for, which isn't granted any more. */
    @Test
    void ticketThatIsWithdrawnDoesNotReplaceWhatASessionReadsOn() {
        List<List<List<Op>>> programs = List.of(
                List.of(
                        often(op(Call.PUT, 3, 0)),
                        often(op(Call.TAKE_AND_READ, 0, 2)),
                        often(op(Call.TRY_READ, 0.5, 0)),
                        often(op(Call.TRY_READ_TIMED, 0.5, 0))),
                List.of(often(op(Call.LOCK, 0.5, 0))));
        assertThat(isFoundIn(programs, (script, text) -> text)).isFalse();
        BinaryOperator<String> change = (script, text) ->
                text.replace("(kind ~= 'r' or redis.call('hexists', name.lock, session .. ':r') == 1)", "kind ~= 'r'");
        assertThat(isFoundIn(programs, change)).as("the simulation finds it").isTrue();
    }

    /** A message doesn't tell how old a grant is: of a lease of a second little may be left. */
    @ParameterizedTest
    @ValueSource(longs = {900, 910, 920, 930, 940, 950, 960, 970, 980, 990})
    void waiterHasTheTimeToRenewAShortLease(long signalledMillis) {
        assertHolds(plan(
                1,
                1_000,
                List.of(
                        List.of(List.of(op(Call.TAKE_AND_READ, 0, 100))),
                        List.of(List.of(op(Call.PUT, (double) signalledMillis, 0))))));
    }

    /** The command that takes its waiters out of Redis is lost. */
    @Test
    void signalForAWaiterOfAClosingSessionGoesToAnother() {
        List<List<Op>> waiter = List.of(List.of(op(Call.TAKE, 0, 0)));
        List<List<Op>> later = List.of(List.of(op(Call.TAKE, 5, 0)));
        assertHolds(plan(
                1,
                10_000,
                List.of(later, waiter),
                new Fault(Kind.LOST_REQUESTS, 1, 25 * MILLI, 5 * MILLI),
                new Fault(Kind.CLOSE, 1, 27 * MILLI, 0)));
    }
}
