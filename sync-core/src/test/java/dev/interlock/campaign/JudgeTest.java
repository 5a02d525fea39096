package dev.interlock.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.campaign.Camp.Happening;
import dev.interlock.campaign.Judge.Complaint;
import dev.interlock.campaign.Lookout.Delay;
import dev.interlock.campaign.Step.Act;
import dev.interlock.campaign.Step.End;
import dev.interlock.testing.rig.Log;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The judge of the campaign sees what is wrong, and nothing else. Times are milliseconds here. */
class JudgeTest {
    private static final int PERMITS = 4;
    private static final int PARTIES = 3;
    private static final int PATIENCE = 60_000;

    @TempDir
    private Path folder;

    private static Step step(Act act, int jvm, int begun, int entered, int until, long token) {
        return step(act, jvm, begun, entered, until, token, 0, End.DONE);
    }

    private static Step step(Act act, int jvm, int begun, int entered, int until, long token, long number, End end) {
        return new Step(jvm, 0, act, nanos(begun), nanos(entered), nanos(until), token, number, end);
    }

    private static long nanos(int millis) {
        return Duration.ofMillis(millis).toNanos();
    }

    private static Happening happening(Fault fault, int from, int to) {
        return new Happening(fault, nanos(from), nanos(to));
    }

    private static List<String> complaints(List<Happening> happenings, Step... steps) {
        return complaints(happenings, List.of(), steps);
    }

    private static List<String> complaints(List<Happening> happenings, List<Delay> delays, Step... steps) {
        var judge = new Judge(List.of(steps), happenings, delays, nanos(PATIENCE));
        List<Complaint> complaints = judge.complaints(PERMITS, PARTIES);
        complaints.forEach(complaint -> assertThat(judge.story(complaint))
                .contains(complaint.steps().get(0).toString()));
        return complaints.stream().map(Complaint::what).toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"LOCK", "FAIR_LOCK", "RETAINED_LOCK", "CONDITION", "WRITE", "LEAD"})
    void oneAfterTheOtherIsFineAndOneBesideTheOtherIsNot(Act act) {
        assertThat(complaints(List.of(), step(act, 1, 25, 30, 40, 2), step(act, 0, 1, 10, 30, 1)))
                .isEmpty();
        assertThat(complaints(List.of(), step(act, 1, 5, 29, 40, 2), step(act, 0, 1, 10, 30, 1)))
                .containsExactly("two are inside at once");
        // Not only beside the one that came just before.
        assertThat(complaints(
                        List.of(), step(act, 0, 1, 10, 50, 1), step(act, 1, 2, 12, 13, 2), step(act, 2, 3, 40, 41, 3)))
                .containsExactly("two are inside at once", "two are inside at once");
    }

    @Test
    void holdsAreJudgedWithTheLocksOfTheirNames() {
        Step both = step(Act.HOLD_BOTH, 0, 1, 10, 30, 5, 8, End.DONE);
        assertThat(complaints(
                        List.of(),
                        both,
                        step(Act.LOCK, 1, 5, 31, 40, 6),
                        step(Act.HOLD, 2, 5, 41, 50, 7),
                        step(Act.RETAINED_LOCK, 1, 5, 31, 40, 9),
                        step(Act.HOLD_RETAINED, 2, 5, 41, 50, 10)))
                .isEmpty();
        for (Act act : List.of(Act.LOCK, Act.HOLD)) {
            assertThat(complaints(List.of(), both, step(act, 1, 5, 29, 40, 6)))
                    .containsExactly("two are inside at once");
            assertThat(complaints(List.of(), both, step(act, 1, 35, 36, 40, 4)))
                    .containsExactly("the token of the later isn't larger");
        }
        for (Act act : List.of(Act.RETAINED_LOCK, Act.HOLD_RETAINED)) {
            assertThat(complaints(List.of(), both, step(act, 1, 5, 29, 40, 9)))
                    .containsExactly("two are inside at once");
            assertThat(complaints(List.of(), both, step(act, 1, 35, 36, 40, 7)))
                    .containsExactly("the token of the later isn't larger");
        }
    }

    @Test
    void leadersThatFollowAnotherJvmsAreCounted() {
        Step first = step(Act.LEAD, 0, 1, 10, 20, 1);
        Step again = step(Act.LEAD, 0, 21, 30, 40, 2);
        Step other = step(Act.LEAD, 1, 5, 50, 60, 3);
        assertThat(new Judge(List.of(other, again, first), List.of(), List.of(), nanos(PATIENCE)).leaderChanges())
                .isOne();
    }

    @Test
    void whatNobodyEndedCountsForAsLongAsItWasConfirmed() {
        Step killed = step(Act.LOCK, 0, 1, 10, 30, 1, 0, End.NEVER);
        assertThat(complaints(List.of(), killed, step(Act.LOCK, 1, 5, 31, 40, 2)))
                .isEmpty();
        assertThat(complaints(List.of(), killed, step(Act.LOCK, 1, 5, 29, 40, 2)))
                .containsExactly("two are inside at once");
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"REDIS_RESTARTED_EMPTY", "LEASES_CUT_SHORT"})
    void lossExplainsWhatIsLeftOfALease(Fault loss) {
        List<Happening> lost = List.of(happening(loss, 15, 20));
        int over = 20 + (int) CampaignWork.LEASE.toMillis();
        Step stale = step(Act.LOCK, 0, 1, 10, 60, 7);
        assertThat(complaints(lost, stale, step(Act.LOCK, 1, 5, 50, 70, 8))).isEmpty();
        assertThat(complaints(lost, stale, step(Act.LOCK, 1, 5, 50, 70, 7)))
                .containsExactly("two are inside at once", "the same token twice");
        assertThat(complaints(
                        List.of(happening(Fault.REDIS_RESTARTED, 15, 20)), stale, step(Act.LOCK, 1, 5, 50, 70, 8)))
                .containsExactly("two are inside at once");
        assertThat(complaints(List.of(happening(loss, 55, 56)), stale, step(Act.LOCK, 1, 5, 50, 70, 8)))
                .containsExactly("two are inside at once");
        // The stale tenure goes from thread to thread as long as its session knows of nothing.
        Step fresh = step(Act.LOCK, 1, 30, 50, over + 50, 8);
        assertThat(complaints(lost, fresh, step(Act.LOCK, 0, 55, 56, 57, 7))).isEmpty();
        assertThat(complaints(lost, fresh, step(Act.LOCK, 0, over, over + 1, over + 2, 7)))
                .containsExactly("two are inside at once", "the token of the later isn't larger");
    }

    @Test
    void readersAreInsideTogetherButNotBesideAWriter() {
        assertThat(complaints(List.of(), step(Act.READ, 0, 1, 10, 30, 0), step(Act.READ, 1, 1, 20, 40, 0)))
                .isEmpty();
        assertThat(complaints(List.of(), step(Act.READ, 0, 1, 10, 30, 0), step(Act.WRITE, 1, 1, 20, 40, 5)))
                .containsExactly("two are inside at once");
        assertThat(complaints(List.of(), step(Act.WRITE, 0, 1, 10, 30, 5), step(Act.READ, 1, 1, 20, 40, 0)))
                .containsExactly("two are inside at once");
        assertThat(complaints(
                        List.of(),
                        step(Act.WRITE, 0, 1, 10, 30, 5),
                        step(Act.READ, 1, 1, 30, 60, 0),
                        step(Act.READ, 2, 1, 31, 40, 0),
                        step(Act.WRITE, 1, 1, 50, 70, 6)))
                .containsExactly("two are inside at once");
    }

    @Test
    void tokensIncrease() {
        String wrong = "the token of the later isn't larger";
        assertThat(complaints(List.of(), step(Act.LOCK, 0, 1, 10, 20, 5), step(Act.LOCK, 1, 25, 30, 40, 4)))
                .containsExactly(wrong);
        // The largest of all before counts, not the last.
        assertThat(complaints(
                        List.of(),
                        step(Act.LOCK, 0, 1, 10, 20, 5),
                        step(Act.LOCK, 0, 21, 22, 23, 7),
                        step(Act.LOCK, 1, 25, 30, 40, 6)))
                .containsExactly(wrong);
        assertThat(complaints(List.of(), step(Act.LOCK, 0, 1, 10, 20, 5), step(Act.LOCK, 1, 5, 30, 40, 5)))
                .containsExactly("the same token twice");
        // Of those who asked at the same time nobody knows who was to be the first.
        assertThat(complaints(List.of(), step(Act.LOCK, 0, 1, 10, 20, 5), step(Act.LOCK, 1, 9, 21, 22, 4)))
                .isEmpty();
    }

    @Test
    void nobodyIsOvertakenInAFairQueue() {
        Step first = step(Act.FAIR_LOCK, 0, 1, 3_000, 3_001, 9);
        Step second = step(Act.FAIR_LOCK, 1, 1_000, 2_000, 2_001, 8);
        assertThat(complaints(List.of(), first, second)).containsExactly("overtaken in a fair queue");
        assertThat(complaints(List.of(happening(Fault.JVM_STOPPED, 10, 20)), first, second))
                .isEmpty();
        assertThat(complaints(List.of(happening(Fault.JVM_STOPPED, 5_000, 6_000)), first, second))
                .containsExactly("overtaken in a fair queue");
        assertThat(complaints(List.of(), List.of(new Delay(nanos(10), nanos(300))), first, second))
                .isEmpty();
        assertThat(complaints(List.of(), List.of(new Delay(nanos(5_000), nanos(5_300))), first, second))
                .containsExactly("overtaken in a fair queue");
        Step looked = step(Act.LOOK, 0, 20, 25, 25, 0);
        Step lookedLate = step(Act.LOOK, 0, 40, 300, 300, 0);
        assertThat(complaints(List.of(), first, second, looked, lookedLate)).isEmpty();
        assertThat(complaints(List.of(), first, second, looked, step(Act.LOOK, 1, 40, 300, 300, 0)))
                .as("what another JVM saw")
                .containsExactly("overtaken in a fair queue");
        assertThat(complaints(List.of(), first, second, looked, step(Act.LOOK, 0, 200, 260, 260, 0)))
                .containsExactly("overtaken in a fair queue");
        Step barging = step(Act.FAIR_LOCK, 1, 1_000, 2_000, 2_001, 8, Worker.BARGING, End.DONE);
        assertThat(complaints(List.of(), first, barging)).isEmpty();
        Step early = step(Act.FAIR_LOCK, 1, 100, 2_000, 2_001, 8);
        assertThat(complaints(List.of(), first, early)).isEmpty();
    }

    @Test
    void noMorePermitsAreInUseThanThereAre() {
        Step three = step(Act.PERMITS, 0, 1, 10, 30, 0, 3, End.DONE);
        assertThat(complaints(List.of(), three, step(Act.PERMITS, 1, 1, 20, 40, 0, 1, End.DONE)))
                .isEmpty();
        assertThat(complaints(List.of(), three, step(Act.PERMITS, 1, 1, 30, 40, 0, 3, End.DONE)))
                .isEmpty();
        assertThat(complaints(List.of(), three, step(Act.PERMITS, 1, 1, 29, 40, 0, 2, End.DONE)))
                .containsExactly("5 permits of 4 are in use");
        assertThat(complaints(
                        List.of(happening(Fault.REDIS_RESTARTED_EMPTY, 12, 14)),
                        three,
                        step(Act.PERMITS, 1, 1, 29, 40, 0, 2, End.DONE)))
                .isEmpty();
    }

    /** A loss is told by the next release in its JVM, whichever thread that is. */
    @Test
    void permitsWhoseLossAnotherThreadWasToldMayBeInUseTwice() {
        Step lost = step(Act.PERMITS, 0, 1, 10, 50, 0, 3, End.DONE);
        Step other = step(Act.PERMITS, 1, 1, 29, 40, 0, 2, End.DONE);
        Step one = step(Act.PERMITS, 0, 45, 58, 58, 0, 1, End.LOST);
        Step two = step(Act.PERMITS, 0, 45, 59, 59, 0, 2, End.LOST);
        assertThat(complaints(List.of(), lost, other, one, two)).isEmpty();
        assertThat(complaints(List.of(), lost, other, one)).containsExactly("5 permits of 4 are in use");
        assertThat(complaints(List.of(), lost, other, step(Act.PERMITS, 2, 45, 58, 58, 0, 3, End.LOST)))
                .containsExactly("5 permits of 4 are in use");
        assertThat(complaints(List.of(), lost, other, step(Act.PERMITS, 0, 5, 8, 8, 0, 3, End.LOST)))
                .containsExactly("5 permits of 4 are in use");
    }

    @Test
    void nobodyPassesALatchBeforeItIsCountedDown() {
        Step passed = step(Act.AWAIT_LATCH, 0, 5, 20, 20, 0, 7, End.DONE);
        Step one = step(Act.COUNT_DOWN, 0, 1, 0, 0, 0, 7, End.DONE);
        Step two = step(Act.COUNT_DOWN, 1, 2, 0, 0, 0, 7, End.DONE);
        assertThat(complaints(List.of(), passed, one, two, step(Act.COUNT_DOWN, 2, 3, 0, 0, 0, 7, End.NEVER)))
                .isEmpty();
        assertThat(complaints(List.of(), passed, one, two, step(Act.COUNT_DOWN, 2, 21, 0, 0, 0, 7, End.DONE)))
                .containsExactly("passed a latch after 2 of 3");
        assertThat(complaints(List.of(), passed, one, two, step(Act.COUNT_DOWN, 2, 3, 0, 0, 0, 8, End.DONE)))
                .containsExactly("passed a latch after 2 of 3");
    }

    @Test
    void generationsOfABarrierAreWhole() {
        Step first = step(Act.BARRIER, 0, 1, 20, 20, 0, 2, End.DONE);
        Step second = step(Act.BARRIER, 1, 5, 21, 21, 0, 1, End.DONE);
        assertThat(complaints(List.of(), first, second, step(Act.BARRIER, 2, 19, 22, 22, 0, 0, End.DONE)))
                .isEmpty();
        assertThat(complaints(List.of(), first, second, step(Act.BARRIER, 2, 19, 0, 0, 0, 0, End.NEVER)))
                .isEmpty();
        assertThat(complaints(List.of(), first, second))
                .containsExactly("passed a barrier with 2 of 3", "passed a barrier with 2 of 3");
        assertThat(complaints(List.of(), first, second, step(Act.BARRIER, 2, 19, 0, 22, 0, 0, End.BROKEN)))
                .containsExactly("passed a barrier with 2 of 3", "passed a barrier with 2 of 3");
        assertThat(complaints(List.of(), first, second, step(Act.BARRIER, 2, 22, 30, 30, 0, 0, End.DONE)))
                .hasSize(3);
    }

    @Test
    void whatIsForgottenOfAGenerationIsForeseen() {
        Step first = step(Act.BARRIER, 0, 1, 20, 20, 0, 2, End.DONE);
        Step second = step(Act.BARRIER, 1, 5, 21, 21, 0, 1, End.DONE);
        Step third = step(Act.BARRIER, 2, 19, 0, 40, 0, 0, End.BROKEN);
        assertThat(complaints(List.of(happening(Fault.REDIS_RESTARTED_EMPTY, 30, 35)), first, second, third))
                .isEmpty();
        assertThat(complaints(List.of(happening(Fault.REDIS_RESTARTED_EMPTY, 40, 45)), first, second, third))
                .hasSize(2);
        assertThat(complaints(List.of(happening(Fault.REDIS_RESTARTED, 30, 35)), first, second, third))
                .hasSize(2);
        assertThat(complaints(List.of(happening(Fault.REDIS_RESTARTED_EMPTY, 30, 35)), first, second))
                .hasSize(2);
    }

    @Test
    void nobodyWaitsForTooLong() {
        assertThat(complaints(List.of(), step(Act.READ, 0, 1, PATIENCE + 2, PATIENCE + 3, 0)))
                .containsExactly("waited for too long");
    }

    @Test
    void whatIsRecordedIsRead() throws IOException {
        Path file = folder.resolve("steps");
        List<Log> files = StepLog.FORMAT.open(file, 2);
        List<StepLog> logs = files.stream().map(StepLog::new).toList();
        logs.get(1).begin(Act.PERMITS, 2, 10);
        logs.get(1).enter(20, 0);
        logs.get(1).stillThere(30);
        logs.get(1).end(End.DONE);
        logs.get(1).begin(Act.LOCK, 0, 40);
        logs.get(1).enter(50, 7);
        logs.get(0).begin(Act.WRITE, 0, 15);
        logs.get(0).end(End.GAVE_UP);
        assertThat(files.get(1).size()).isEqualTo(1);
        assertThat(StepLog.FORMAT.read(3, file, 2))
                .containsExactly(
                        new Step(3, 0, Act.WRITE, 15, 0, 0, 0, 0, End.GAVE_UP),
                        new Step(3, 1, Act.PERMITS, 10, 20, 30, 0, 2, End.DONE),
                        new Step(3, 1, Act.LOCK, 40, 50, 50, 7, 0, End.NEVER));
    }

    @Test
    void storeRefusesWhatIsStale() throws IOException {
        Blackboard board = Blackboard.open(folder.resolve("board"));
        assertThat(board.write(Act.LOCK, 5)).isTrue();
        assertThat(board.write(Act.LOCK, 5)).isTrue();
        assertThat(board.write(Act.LOCK, 4)).isFalse();
        assertThat(board.write(Act.WRITE, 4)).isTrue();
        assertThat(board.refused()).isEqualTo(1);
    }
}
