package dev.interlock.benchmarks;

import static java.util.Objects.requireNonNull;

import dev.interlock.benchmarks.Tournament.Rules;
import dev.interlock.benchmarks.servers.Servers;
import dev.interlock.testing.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures ours beside its peers in interleaved rounds, and prints a {@code SCORE} line per scenario and peer. */
@Command(name = "Scoreboard", sortOptions = false, mixinStandardHelpOptions = true)
public final class Scoreboard implements Callable<Integer> {

    @Option(names = "--quick", description = "Fewer rounds and fewer peers: three minutes for all, instead of 45.")
    private boolean quick;

    @Option(names = "--only", paramLabel = "REGEX", description = "Only scenarios whose name contains a match.")
    private Pattern only = Pattern.compile("");

    @Option(names = "--peers", paramLabel = "REGEX", description = "Only peers whose name contains a match.")
    private Pattern peers = Pattern.compile("");

    @Option(names = "--json", paramLabel = "FILE", description = "Write all that was measured there, too.")
    private @Nullable Path json;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "As many measured rounds instead, half as many to warm up.")
    private @Nullable Integer rounds;

    @Option(names = "--millis", paramLabel = "N", description = "As long per round and contestant instead.")
    private @Nullable Integer millis;

    @Spec
    private @Nullable CommandSpec spec;

    /** Runs it. The exit code is 0 if all scenarios were measured, 1 if one failed, 2 for options that make no sense. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Scoreboard()).execute(args));
    }

    @Override
    public Integer call() {
        CommandLine console = requireNonNull(spec).commandLine();
        var rules = new Rules(console.getCommandName(), quick, only, peers, rounds, millis);
        check(console, rules);
        var out = console.getOut();
        try (var servers = new Servers(RedisServer.provided())) {
            new Tournament(
                            rules,
                            servers,
                            line -> {
                                out.println(line);
                                out.flush();
                            },
                            console.getErr()::println)
                    .play(results -> {
                        if (json != null) {
                            results.write(json); // after each scenario: a run takes long
                        }
                    });
        }
        return CommandLine.ExitCode.OK;
    }

    // A run takes minutes; better to hear of a slip now.
    private void check(CommandLine console, Rules rules) {
        if (rounds != null && rounds < 1) {
            throw new ParameterException(console, "--rounds must be at least 1, but is " + rounds);
        }
        if (millis != null && millis < 1) {
            throw new ParameterException(console, "--millis must be at least 1, but is " + millis);
        }
        if (json != null
                && !Files.isDirectory(requireNonNull(json.toAbsolutePath().getParent()))) {
            throw new ParameterException(console, "--json " + json + " isn't in an existing folder");
        }
        if (rules.scenarios().isEmpty()) {
            throw new ParameterException(
                    console,
                    "--only '" + only + "' matches none of "
                            + Scenarios.ALL.stream().map(Scenario::name).toList());
        }
    }
}
