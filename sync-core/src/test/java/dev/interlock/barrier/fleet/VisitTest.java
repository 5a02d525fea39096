package dev.interlock.barrier.fleet;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The check finds what it has to find. */
class VisitTest {

    /** Two parties, two generations. */
    private static List<Visit> sound() {
        return new ArrayList<>(List.of(
                new Visit(0, 10, 31, 1),
                new Visit(0, 20, 30, 0),
                new Visit(0, 21, 25, Visit.ACTION),
                new Visit(1, 40, 60, 0),
                new Visit(1, 35, 61, 1),
                new Visit(1, 41, 50, Visit.ACTION)));
    }

    private static void assertFound(List<Visit> history, String complaint) {
        assertThatThrownBy(() -> Visit.assertGenerationsDoNotMix(history, 2, 2))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(complaint);
    }

    private static List<Visit> with(int at, Visit visit) {
        List<Visit> history = sound();
        history.set(at, visit);
        return history;
    }

    @Test
    void soundHistoryPasses() {
        Visit.assertGenerationsDoNotMix(sound(), 2, 2);
    }

    @Test
    void wrongHistoriesAreFound() {
        assertFound(with(0, new Visit(0, 10, 31, 0)), "indices in generation 0");
        assertFound(with(4, new Visit(0, 35, 61, 1)), "indices in generation 0");
        assertFound(with(1, new Visit(0, 22, 30, 0)), "beginning of action 0");
        assertFound(with(0, new Visit(0, 10, 24, 1)), "end of action 0");
        assertFound(with(3, new Visit(1, 42, 60, 0)), "beginning of action 1");
        List<Visit> missing = sound();
        missing.remove(4);
        assertFound(missing, "indices in generation 1");
        List<Visit> twice = sound();
        twice.add(new Visit(2, 42, 45, Visit.ACTION));
        assertFound(twice, "actions");
        List<Visit> never = sound();
        never.remove(2);
        assertFound(never, "actions");
        List<Visit> short1 = new ArrayList<>(sound().subList(0, 3));
        assertFound(short1, "generations");
    }
}
