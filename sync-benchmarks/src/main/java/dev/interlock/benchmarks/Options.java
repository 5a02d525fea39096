package dev.interlock.benchmarks;

import static java.util.Objects.requireNonNull;

import dev.interlock.benchmarks.play.Tournament;
import dev.interlock.benchmarks.play.Tournament.Rules;
import dev.interlock.benchmarks.report.Results;
import dev.interlock.benchmarks.scenarios.Scenario;
import dev.interlock.benchmarks.scenarios.Scenarios;
import dev.interlock.benchmarks.servers.Servers;
import dev.interlock.testing.RedisServer;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * What every program that measures can be told, and how it then measures: by scenario, in sight of whoever waits for
 * it.
 */
final class Options {

    @Option(names = "--quick", description = "Fewer rounds and fewer peers: three minutes for all, instead of an hour.")
    private boolean quick;

    @Option(names = "--only", paramLabel = "REGEX", description = "Only scenarios whose name contains a match.")
    private Pattern only = Pattern.compile("");

    @Option(names = "--peers", paramLabel = "REGEX", description = "Only peers whose name contains a match.")
    private Pattern peers = Pattern.compile("");

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "As many measured rounds instead, half as many to warm up.")
    private @Nullable Integer rounds;

    @Option(names = "--millis", paramLabel = "N", description = "As long per round and contestant instead.")
    private @Nullable Integer millis;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    /** That of the program whose options these are. */
    CommandLine console() {
        return requireNonNull(spec).commandLine();
    }

    /**
     * Measures, and prints the scores.
     *
     * @param after hears after each scenario what there is so far, since a run takes long
     * @return all that was measured
     * @throws ParameterException if the options make no sense
     */
    Results measured(Consumer<Results> after) {
        CommandLine console = console();
        Rules rules = rules(console);
        var out = console.getOut();
        var err = console.getErr();
        long plannedSeconds = rules.planned().toSeconds();
        err.printf("Planned: %d:%02d min%n", plannedSeconds / 60, plannedSeconds % 60);
        try (var servers = new Servers(RedisServer.provided())) {
            return new Tournament(
                            rules,
                            servers,
                            line -> {
                                out.println(line);
                                out.flush();
                            },
                            err::println)
                    .play(after);
        }
    }

    // A run takes minutes; better to hear of a slip now.
    private Rules rules(CommandLine console) {
        if (rounds != null && rounds < 1) {
            throw new ParameterException(console, "--rounds must be at least 1, but is " + rounds);
        }
        if (millis != null && millis < 1) {
            throw new ParameterException(console, "--millis must be at least 1, but is " + millis);
        }
        var rules = new Rules(console.getCommandName(), quick, only, peers, rounds, millis);
        if (rules.scenarios().isEmpty()) {
            throw new ParameterException(
                    console,
                    "--only '" + only + "' matches none of "
                            + Scenarios.ALL.stream().map(Scenario::name).toList());
        }
        return rules;
    }
}
