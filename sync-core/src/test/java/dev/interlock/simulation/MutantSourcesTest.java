package dev.interlock.simulation;

import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The faults of {@link MutantTest} fit the library as it is: a change of it that they don't is told at once. */
class MutantSourcesTest {
    @ParameterizedTest
    @MethodSource("dev.interlock.simulation.MutantTest#mutants")
    void canBePlanted(Mutant mutant) throws IOException {
        mutant.compile();
    }
}
