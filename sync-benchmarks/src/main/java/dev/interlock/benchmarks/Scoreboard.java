package dev.interlock.benchmarks;

import static java.util.Objects.requireNonNull;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Measures ours beside its peers in interleaved rounds, and prints a {@code SCORE} line per scenario and peer. */
@Command(name = "Scoreboard", sortOptions = false, mixinStandardHelpOptions = true)
public final class Scoreboard implements Callable<Integer> {

    @Mixin
    private final Options options = new Options();

    @Option(names = "--json", paramLabel = "FILE", description = "Write all that was measured there, too.")
    private @Nullable Path json;

    /**
     * Runs it. The exit code is 0 if all scenarios were measured, 1 if one failed, 2 for options that make no sense.
     */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Scoreboard()).execute(args));
    }

    @Override
    public Integer call() {
        if (json != null
                && !Files.isDirectory(requireNonNull(json.toAbsolutePath().getParent()))) {
            throw new ParameterException(options.console(), "--json " + json + " isn't in an existing folder");
        }
        options.measured(results -> {
            if (json != null) {
                results.write(json);
            }
        });
        return CommandLine.ExitCode.OK;
    }
}
