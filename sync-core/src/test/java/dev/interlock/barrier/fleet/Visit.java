package dev.interlock.barrier.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.rig.LogFormat;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What a thread has done in one generation: it has come, and gone with an index; or it has run the action.
 *
 * @param generation how many generations the thread had been in before; for an action, how many had been run before
 * @param came nanoseconds by a clock that all JVMs share
 * @param gone the same
 * @param index of arrival, or {@link #ACTION}
 */
record Visit(int generation, long came, long gone, int index) {
    static final int ACTION = -1;

    /** How visits are recorded. */
    static final LogFormat<Visit> LOG = new LogFormat<>(
            4, 100_000, (jvm, thread, words) -> new Visit((int) words[2], words[0], words[1], (int) words[3]));

    /**
     * Asserts that every generation had all parties, each index once, that nobody went before all had come, and that
     * the action was run exactly once in between.
     */
    static void assertGenerationsDoNotMix(List<Visit> history, int parties, int generations) {
        Map<Integer, List<Visit>> byGeneration = history.stream()
                .filter(visit -> visit.index != ACTION)
                .collect(Collectors.groupingBy(Visit::generation, TreeMap::new, Collectors.toList()));
        List<Visit> actions = history.stream()
                .filter(visit -> visit.index == ACTION)
                .sorted(Comparator.comparingLong(Visit::came))
                .toList();
        assertThat(byGeneration).as("generations").hasSize(generations);
        assertThat(actions).as("actions").hasSize(generations);
        List<Integer> indices = IntStream.range(0, parties).boxed().toList();
        byGeneration.forEach((generation, visits) -> {
            assertThat(visits.stream().map(Visit::index))
                    .as("indices in generation %d", generation)
                    .containsExactlyInAnyOrderElementsOf(indices);
            long lastCame = visits.stream().mapToLong(Visit::came).max().orElseThrow();
            long firstGone = visits.stream().mapToLong(Visit::gone).min().orElseThrow();
            Visit action = actions.get(generation);
            assertThat(action.came)
                    .as("beginning of action %d, after the last has come", generation)
                    .isGreaterThanOrEqualTo(lastCame);
            assertThat(action.gone)
                    .as("end of action %d, before one goes", generation)
                    .isLessThanOrEqualTo(firstGone);
            assertThat(firstGone)
                    .as("one goes from generation %d, after the last has come", generation)
                    .isGreaterThanOrEqualTo(lastCame);
        });
    }
}
