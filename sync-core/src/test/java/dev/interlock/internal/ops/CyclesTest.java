package dev.interlock.internal.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.Presence;
import dev.interlock.internal.Stake;
import dev.interlock.internal.Stake.Hold;
import dev.interlock.internal.Stake.Wait;
import dev.interlock.ops.Deadlock;
import dev.interlock.ops.Deadlock.Step;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A deadlock is found if there is one, and none is made up. */
class CyclesTest {
    private static final int LONG = 20_000;

    private final Map<String, Answer> answers = new LinkedHashMap<>();

    /** A session of another process of the same number, on a host of the same name. */
    private void answer(String session, String jvm, Stake... stakes) {
        answers.put(session, new Answer(new Presence("", "app", 1, ""), jvm, 0, List.of(stakes)));
    }

    private static Stake held(String name, long thread, long token) {
        return new Stake(
                name, "lock", List.of(new Hold("INSIDE", "t" + thread, thread, false, 0, token, 0)), List.of());
    }

    private static Stake wanted(String name, long thread) {
        return Stake.ofWaiting(name, "lock", List.of(new Wait("t" + thread, thread, "", 0, 0)));
    }

    private List<String> found() {
        Set<Deadlock> deadlocks = Cycles.in(answers);
        return deadlocks.stream()
                .map(deadlock -> String.join(
                        ", ",
                        deadlock.steps().stream()
                                .map(step -> step.session() + " " + step.holds() + " -> " + step.waitsFor())
                                .toList()))
                .toList();
    }

    /** In containers every process is number 1, and hosts may have one name. */
    @Test
    void threadsOfTwoContainersAreNotOne() {
        answer("s1", "j1", held("a", 5, 1));
        answer("s2", "j2", wanted("b", 5));
        answer("s3", "j3", held("b", 6, 1), wanted("a", 6));
        assertThat(found()).isEmpty();
    }

    @Test
    void aDeadlockIsNotHiddenByAThreadOfAnotherContainer() {
        answer("s1", "j1", held("a", 5, 1), wanted("b", 5));
        answer("s2", "j2", wanted("c", 5));
        answer("s3", "j3", held("b", 6, 1), wanted("a", 6));
        assertThat(found()).containsExactly("s1 a -> b, s3 b -> a");
    }

    @Test
    void aThreadMayUseSeveralSessionsOfItsJvm() {
        answer("s1", "j1", held("a", 5, 1));
        answer("s2", "j1", wanted("b", 5));
        answer("s3", "j1", held("b", 6, 1), wanted("a", 6));
        assertThat(found()).containsExactly("s1 a -> b, s3 b -> a");
    }

    /** Of two answers, one is older. */
    @Test
    void aThreadThatIsSeenInTwoPlacesIsFollowedFromBoth() {
        answer("s1", "j1", held("a", 5, 1), wanted("b", 5), wanted("c", 5));
        answer("s3", "j3", held("b", 6, 1), wanted("a", 6));
        assertThat(found()).containsExactly("s1 a -> b, s3 b -> a");
        answers.clear();
        answer("s1", "j1", held("a", 5, 1), wanted("c", 5), wanted("b", 5));
        answer("s3", "j3", held("b", 6, 1), wanted("a", 6));
        assertThat(found()).containsExactly("s1 a -> b, s3 b -> a");
    }

    @Test
    void whoHasLostALockDoesNotHoldIt() {
        answer("s1", "j1", held("a", 5, 1), wanted("b", 5));
        answer("s2", "j2", held("a", 7, 2));
        answer("s3", "j3", held("b", 6, 1), wanted("a", 6));
        assertThat(found()).isEmpty();
    }

    @Test
    void aLongCircleIsFoundOnce() {
        List<Stake> stakes = new ArrayList<>();
        for (int i = 0; i < LONG; i++) {
            stakes.add(held("n" + i, i + 1, 1));
            stakes.add(wanted("n" + (i + 1) % LONG, i + 1));
        }
        stakes.add(wanted("n0", LONG + 1));
        answer("s1", "j1", stakes.toArray(Stake[]::new));
        assertThat(Cycles.in(answers))
                .singleElement()
                .satisfies(deadlock -> assertThat(deadlock.steps())
                        .hasSize(LONG)
                        .first()
                        .extracting(Step::holds)
                        .isEqualTo("n0"));
    }
}
