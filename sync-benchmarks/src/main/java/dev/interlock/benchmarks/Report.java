package dev.interlock.benchmarks;

import dev.interlock.benchmarks.pages.Pages;
import dev.interlock.benchmarks.report.Results;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Runs the Scoreboard, or reads what a run has left, and writes the pages with their charts. */
@Command(name = "Report", sortOptions = false, mixinStandardHelpOptions = true)
public final class Report implements Callable<Integer> {
    /** A folder that is no part of the checkout. */
    private static final String OWN = "target/benchmarks";

    @Mixin
    private final Options options = new Options();

    @Option(names = "--from", paramLabel = "FILE", description = "Read the results there instead of measuring.")
    private @Nullable Path from;

    @Option(names = "--onto", paramLabel = "FILE", description = "Take scenarios that aren't measured now from there.")
    private @Nullable Path onto;

    @Option(
            names = "--jmh",
            paramLabel = "FILE",
            description = "Show what JMH has written there (-rf json -rff FILE), too.")
    private @Nullable Path jmh;

    @Option(
            names = "--docs",
            paramLabel = "FOLDER",
            description =
                    "Where the pages, benchmarks.json and charts/ go. Default: " + OWN + ", or docs with --commit.")
    private @Nullable Path folder;

    @Option(
            names = "--commit",
            description = "Replace the pages of the checkout, and what README.md and choosing.md quote of them.")
    private boolean commit;

    /** Runs it. The exit code is 0 if all was measured and written, 1 if not, 2 for options that make no sense. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Report()).execute(args));
    }

    @Override
    public Integer call() {
        Path docs = docs();
        if (from != null && !Files.isRegularFile(from)) {
            throw new ParameterException(options.console(), "--from " + from + " isn't a file");
        }
        if (onto != null && !Files.isRegularFile(onto)) {
            throw new ParameterException(options.console(), "--onto " + onto + " isn't a file");
        }
        if (jmh != null && !Files.isRegularFile(jmh)) {
            throw new ParameterException(options.console(), "--jmh " + jmh + " isn't a file");
        }
        if (jmh != null) {
            Pages.keep(jmh, docs);
        }
        Path kept = docs.resolve("benchmarks.json");
        Optional<Results> others = Optional.ofNullable(onto).map(Results::read);
        UnaryOperator<Results> all = some -> others.map(some::onto).orElse(some);
        Results results = from == null
                ? all.apply(options.measured(some -> all.apply(some).write(kept)))
                : all.apply(Results.read(from));
        Pages.write(results, docs);
        if (commit) {
            Pages.quote(results, docs);
        }
        options.console().getOut().println("Written to " + docs.resolve("benchmarks.md") + ", with its charts");
        return CommandLine.ExitCode.OK;
    }

    private Path docs() {
        Path docs = folder != null ? folder : Path.of(commit ? "docs" : OWN);
        if (folder == null && !commit) {
            try {
                Files.createDirectories(docs);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        if (!Files.isDirectory(docs)) {
            throw new ParameterException(options.console(), "--docs " + docs + " isn't a folder");
        }
        // Its other pages are written by people, and a run of a few scenarios has nothing for most of the charts.
        if (!commit && Files.exists(docs.resolve("choosing.md"))) {
            throw new ParameterException(
                    options.console(), "--docs " + docs + " is that of a checkout, which is changed by --commit only");
        }
        return docs;
    }
}
