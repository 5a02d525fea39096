package dev.interlock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Results;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ScoreboardTest {

    private static final String SCORE =
            "SCORE %s ours=\\d+ RLock=\\d+ ratio=\\d+\\.\\d\\d spread=\\d+\\.\\d\\d\\.\\.\\d+\\.\\d\\d";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    @Test
    void printsOneLinePerScenarioAndPeerAndWritesAllRounds() throws IOException {
        Path file = folder.resolve("scores.json");
        assertThat(run(
                        "--quick",
                        "--only",
                        "^uncontended-retained-1t",
                        "--rounds",
                        "3",
                        "--millis",
                        "100",
                        "--json",
                        file.toString()))
                .describedAs("%s", err)
                .isZero();
        assertThat(out.toString().lines())
                .singleElement()
                .asString()
                .matches(SCORE.formatted("uncontended-retained-1t"));
        assertThat(err.toString()).contains("Redis ").contains("round 3/3");
        String json = Files.readString(file);
        assertThat(json).doesNotContain(System.getProperty("user.home") + "/").doesNotContain(folder.toString());
        JsonNode results = new JsonMapper().readTree(json);
        assertThat(results.at("/environment/redis").asText()).matches("\\d+\\.\\d+\\.\\d+.*");
        assertThat(results.at("/environment/cores").asInt()).isPositive();
        assertThat(results.at("/environment/command").asText())
                .endsWith("Scoreboard --quick --only=^uncontended-retained-1t --rounds=3 --millis=100");
        assertThat(results.at("/measurements/1/contestant").asText()).isEqualTo("RLock");
        assertThat(results.at("/measurements/1/perSecond")).hasSize(3);
        assertThat(results.at("/measurements/1/latency/p50Micros").asDouble()).isPositive();
        assertThat(results.at("/measurements/1/cost/commandsPerOperation").asDouble())
                .isGreaterThan(2);
    }

    /** Rounds of a millisecond are now faster, now slower than the peer's. */
    @Test
    @Tag("proof")
    void whatRoundsLeaveOpenIsPlayedOnceMore() {
        Path file = folder.resolve("scores.json");
        assertThat(run("--only", "^rate-bucket-1t", "--rounds", "40", "--millis", "1", "--json", file.toString()))
                .describedAs("%s", err)
                .isZero();
        Results results = Results.read(file);
        assertThat(results.repeated())
                .allSatisfy(one -> assertThat(one.perSecond()).hasSize(40))
                .extracting(Measurement::contestant)
                .containsExactlyElementsOf(results.measurements().stream()
                        .map(Measurement::contestant)
                        .toList());
        assertThat(out.toString().lines())
                .hasSize(4)
                .allSatisfy(line -> assertThat(line).startsWith("SCORE rate-bucket-1t "));
        assertThat(err.toString()).contains("Once more, ");
    }

    @Test
    void playsAcrossJvms() {
        assertThat(run("--quick", "--only", "contended-2jvm-4t", "--rounds", "1", "--millis", "300"))
                .describedAs("%s", err)
                .isZero();
        assertThat(out.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line).matches(SCORE.formatted("contended-2jvm-4t")),
                        line -> assertThat(line).startsWith("WAIT contended-2jvm-4t ours p50="));
    }

    /** A thread in each of two JVMs, beside the peer that a quick run has; its sections count in a file. */
    @Test
    void countsInAFileAcrossJvms() {
        assertThat(run("--quick", "--only", "^counter-2jvm-1t", "--rounds", "1", "--millis", "300"))
                .describedAs("%s", err)
                .isZero();
        assertThat(out.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line).matches(SCORE.formatted("counter-2jvm-1t")),
                        line -> assertThat(line).startsWith("WAIT counter-2jvm-1t ours p50="));
    }

    /** What a quick run leaves out is played if it is asked for. */
    @Test
    @Tag("proof")
    void playsSessionsOfTwoJvms() {
        assertThat(run(
                        "--quick",
                        "--only",
                        "^growth-waiters-10$",
                        "--peers",
                        "RFairLock",
                        "--rounds",
                        "1",
                        "--millis",
                        "300"))
                .describedAs("%s", err)
                .isZero();
        assertThat(out.toString().lines())
                .singleElement()
                .asString()
                .matches("SCORE growth-waiters-10 ours=\\d+ RFairLock=\\d+ ratio=.*");
    }

    @Test
    @Tag("proof")
    void comparesReadersAndWritersAcrossJvms() {
        assertThat(run("--quick", "--only", "rw-90-10-2jvm-4t", "--rounds", "1", "--millis", "300"))
                .describedAs("%s", err)
                .isZero();
        assertThat(out.toString().lines())
                .singleElement()
                .asString()
                .matches(SCORE.formatted("rw-90-10-2jvm-4t").replace("RLock", "RReadWriteLock"));
    }

    @Test
    @Tag("proof")
    void comparesTurnsWithTheirFloor() {
        assertThat(run("--quick", "--only", "condition-pingpong-2jvm", "--rounds", "1", "--millis", "300"))
                .describedAs("%s", err)
                .isZero();
        assertThat(out.toString().lines())
                .singleElement()
                .asString()
                .matches(SCORE.formatted("condition-pingpong-2jvm").replace("RLock", "pubsub-echo"));
    }

    @Test
    void comparesLimitersWithTwoPeers() {
        assertThat(run("--quick", "--only", "rate-bucket-8t", "--rounds", "1", "--millis", "200"))
                .describedAs("%s", err)
                .isZero();
        assertThat(out.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .matches(SCORE.formatted("rate-bucket-8t").replace("RLock", "RRateLimiter")),
                        line -> assertThat(line)
                                .matches(SCORE.formatted("rate-bucket-8t").replace("RLock", "Bucket4j")));
    }

    @Test
    void optionsThatMakeNoSenseAreNamed() {
        assertThat(run("--only", "no-such-scenario")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(run("--rounds", "0")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(run("--millis", "-5")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(run("--json", folder.resolve("none").resolve("x.json").toString()))
                .isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(err.toString())
                .contains("'no-such-scenario' matches none of [uncontended-1t, ")
                .contains("--rounds must be at least 1, but is 0")
                .contains("--millis must be at least 1, but is -5")
                .contains("isn't in an existing folder");
        assertThat(out.toString()).isEmpty();
    }

    private int run(String... args) {
        return new CommandLine(new Scoreboard())
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(args);
    }
}
