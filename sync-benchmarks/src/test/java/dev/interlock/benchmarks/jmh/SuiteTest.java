package dev.interlock.benchmarks.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.benchmarks.jmh.Arena.Tally;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Every benchmark runs. In this JVM, since what is looked at isn't how fast. */
class SuiteTest {

    private static ChainedOptionsBuilder shortly(String include) {
        return new OptionsBuilder()
                .include(include)
                .forks(0)
                .warmupIterations(0)
                .measurementIterations(1)
                .measurementTime(TimeValue.milliseconds(100))
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
    }

    private static Collection<RunResult> run(ChainedOptionsBuilder options) throws RunnerException {
        return new Runner(options.build()).run();
    }

    /** With every implementation that it names by default. */
    @Test
    @Tag("proof")
    void everyBenchmarkRuns() throws RunnerException {
        Collection<RunResult> results = run(shortly("\\.jmh\\."));
        Set<String> listed = BenchmarkList.defaultList()
                .getAll(OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT), List.of())
                .stream()
                .map(entry -> entry.getUsername())
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(results.stream()
                        .map(result -> result.getParams().getBenchmark())
                        .collect(Collectors.toSet()))
                .containsExactlyInAnyOrderElementsOf(listed);
        assertThat(results)
                .allSatisfy(result -> assertThat(result.getPrimaryResult().getScore())
                        .as("%s", result.getParams().id())
                        .isPositive());
    }

    @Test
    void locksAreMeasured() throws RunnerException {
        assertThat(run(shortly("\\.LockBenchmark.(un)?contended").param("impl", "Interlock", "JDK")))
                .hasSize(4)
                .allSatisfy(result ->
                        assertThat(result.getPrimaryResult().getScore()).isPositive());
    }

    /** JVMs in the background want the same lock, or come to the same barrier, which couldn't open without them. */
    @ParameterizedTest
    @Tag("proof")
    @CsvSource({
        "LockBenchmark.contended, Interlock",
        "FairLockBenchmark.uncontended, Interlock",
        "ReadWriteLockBenchmark.balanced, Interlock",
        "SemaphoreBenchmark.contended, Interlock",
        "ConditionBenchmark.pingPong, Interlock",
        "CyclicBarrierBenchmark.alone, Interlock",
        "LockBenchmark.uncontended, Redisson"
    })
    void otherJvmsTakePart(String benchmark, String impl) throws RunnerException {
        assertThat(run(shortly("\\." + benchmark + "$")
                        .measurementTime(TimeValue.seconds(1))
                        .param("impl", impl)
                        .param("jvms", "2")))
                .singleElement()
                .satisfies(result ->
                        assertThat(result.getPrimaryResult().getScore()).isPositive());
    }

    /** Redisson's pair makes two round trips. Ours doesn't wait for the second, so the first pair makes one. */
    @Test
    void aDelayIsAddedToEachRoundTrip() throws RunnerException {
        assertThat(run(shortly("\\.LockBenchmark.uncontended")
                        .param("impl", "Redisson")
                        .param("delayMillis", "20")))
                .singleElement()
                .satisfies(result ->
                        assertThat(result.getPrimaryResult().getScore()).isGreaterThan(40_000));
    }

    @ParameterizedTest
    @CsvSource({
        "LockBenchmark.contended, jvms, 0, 'jvms must be from 1 to 16, but is 0'",
        "LockBenchmark.contended, delayMillis, -1, 'delayMillis must be from 0 to 1,000, but is -1.0'",
        "LockBenchmark.contended, sectionMicros, -1, 'sectionMicros must be from 0 to 1000000, but is -1'",
        "LockBenchmark.contended, impl, nobody, 'No contestant ''nobody'''",
        "LockBenchmark.contended, impl, Interlock-barrier, 'it is no lock'",
        "RateLimiterBenchmark.single, sectionMicros, 1, 'there is no section here'"
    })
    void parametersThatMakeNoSenseAreNamed(String benchmark, String param, String value, String message) {
        ChainedOptionsBuilder options = shortly("\\." + benchmark + "$").param(param, value);
        if (!param.equals("impl")) {
            options.param("impl", "Interlock");
        }
        assertThatThrownBy(() -> run(options))
                .rootCause()
                .satisfies(cause -> assertThat(cause.getMessage() + cause.getSuppressed()[0].getMessage())
                        .contains(message));
    }

    @Test
    void whatKnowsOneJvmIsntMeasuredInTwo() {
        assertThatThrownBy(() -> run(shortly("\\.LockBenchmark.uncontended$")
                        .param("impl", "JDK")
                        .param("jvms", "2")))
                .rootCause()
                .satisfies(cause -> assertThat(cause.getSuppressed()[0]).hasMessageContaining("knows one JVM"));
    }

    @Test
    void sectionsThatAreMissingFailTheTrial() {
        new Tally(3, 0).plus(new Tally(4, 0)).check(7);
        assertThatIllegalStateException()
                .isThrownBy(() -> new Tally(7, 0).check(6))
                .withMessageContaining("exclusion is broken");
        assertThatIllegalStateException().isThrownBy(() -> new Tally(7, 1).check(7));
    }
}
