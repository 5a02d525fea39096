package dev.interlock.benchmarks;

import static java.util.Objects.requireNonNull;

import dev.interlock.benchmarks.Scenario.Pace;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.testing.RedisServer;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

    @Option(names = "--quick", description = "Fewer rounds: some five minutes for all.")
    private boolean quick;

    @Option(names = "--only", paramLabel = "REGEX", description = "Only scenarios whose name contains a match.")
    private Pattern only = Pattern.compile("");

    @Option(names = "--json", paramLabel = "FILE", description = "Write all rounds there, too.")
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
        check(console);
        List<Scenario> scenarios = scenarios(console);
        PrintWriter err = console.getErr();
        RedisServer server = RedisServer.provided();
        Environment environment = Environment.of(server);
        String origin = System.getenv("REDIS_URL") == null ? "started for this run" : "that of REDIS_URL";
        err.printf("%s, version %s, %s; load %.1f%n", server, environment.redis(), origin, environment.load());
        var scores = new ArrayList<Score>();
        for (Scenario scenario : scenarios) {
            try (Site site = site(scenario, Addresses.ofRedis(server.url()))) {
                for (Score score : new Contest(scenario, site, err::println).play(pace(scenario))) {
                    console.getOut().println(score.line());
                    score.waitLine().ifPresent(console.getOut()::println);
                    console.getOut().flush();
                    scores.add(score);
                }
            }
        }
        if (json != null) {
            Results.write(json, environment, scores);
        }
        return CommandLine.ExitCode.OK;
    }

    // A run takes minutes; better to hear of a slip now.
    private void check(CommandLine console) {
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
    }

    private List<Scenario> scenarios(CommandLine console) {
        List<Scenario> chosen = Scenario.ALL.stream()
                .filter(scenario -> only.matcher(scenario.name()).find())
                .toList();
        if (chosen.isEmpty()) {
            throw new ParameterException(
                    console,
                    "--only '" + only + "' matches none of "
                            + Scenario.ALL.stream().map(Scenario::name).toList());
        }
        return chosen;
    }

    private static Site site(Scenario scenario, Addresses addresses) {
        return scenario.jvms() == 1
                ? new Crew(addresses, Ledger.page(), Contestants::named)
                : Ensemble.start(scenario.jvms(), addresses);
    }

    private Pace pace(Scenario scenario) {
        Pace pace = quick ? scenario.quick() : scenario.full();
        return new Pace(
                millis == null ? pace.round() : Duration.ofMillis(millis),
                rounds == null ? pace.warmups() : (rounds + 1) / 2,
                rounds == null ? pace.rounds() : rounds);
    }
}
