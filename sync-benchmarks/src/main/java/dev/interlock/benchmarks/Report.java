package dev.interlock.benchmarks;

import static java.util.Objects.requireNonNull;

import dev.interlock.benchmarks.Tournament.Rules;
import dev.interlock.benchmarks.report.Page;
import dev.interlock.benchmarks.report.Results;
import dev.interlock.benchmarks.servers.Servers;
import dev.interlock.testing.RedisServer;
import java.io.PrintWriter;
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

/** Runs the Scoreboard, or reads what a run has left, and writes {@code benchmarks.md} with its charts. */
@Command(name = "Report", sortOptions = false, mixinStandardHelpOptions = true)
public final class Report implements Callable<Integer> {

    @Option(names = "--quick", description = "Fewer rounds and fewer peers: three minutes for all, instead of 45.")
    private boolean quick;

    @Option(names = "--only", paramLabel = "REGEX", description = "Only scenarios whose name contains a match.")
    private Pattern only = Pattern.compile("");

    @Option(names = "--from", paramLabel = "FILE", description = "Read the results there instead of measuring.")
    private @Nullable Path from;

    @Option(
            names = "--docs",
            paramLabel = "FOLDER",
            description = "Where benchmarks.md, benchmarks.json and charts/ go: ${DEFAULT-VALUE}.")
    private Path docs = Path.of("docs");

    @Spec
    private @Nullable CommandSpec spec;

    /** Runs it. The exit code is 0 if all was measured and written, 1 if not, 2 for options that make no sense. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Report()).execute(args));
    }

    @Override
    public Integer call() {
        CommandLine console = requireNonNull(spec).commandLine();
        if (!Files.isDirectory(docs)) {
            throw new ParameterException(console, "--docs " + docs + " isn't a folder");
        }
        if (from != null && !Files.isRegularFile(from)) {
            throw new ParameterException(console, "--from " + from + " isn't a file");
        }
        Page.write(from == null ? measured(console) : Results.read(from), docs);
        return CommandLine.ExitCode.OK;
    }

    private Results measured(CommandLine console) {
        var rules = new Rules(console.getCommandName(), quick, only, Pattern.compile(""), null, null);
        if (rules.scenarios().isEmpty()) {
            throw new ParameterException(console, "--only '" + only + "' matches no scenario");
        }
        PrintWriter err = console.getErr();
        PrintWriter out = console.getOut();
        err.printf(
                "Planned: %d min%n",
                Tournament.planned(rules.scenarios(), quick).toMinutes() + 1);
        Path kept = docs.resolve("benchmarks.json");
        try (var servers = new Servers(RedisServer.provided())) {
            return new Tournament(
                            rules,
                            servers,
                            line -> {
                                out.println(line);
                                out.flush();
                            },
                            err::println)
                    .play(results -> results.write(kept)); // after each scenario: a run takes long
        }
    }
}
