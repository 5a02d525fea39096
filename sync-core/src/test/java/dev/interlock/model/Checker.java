package dev.interlock.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs TLC over a specification of {@code docs/model}, in a JVM of its own: it keeps what it knows in static fields.
 */
final class Checker {
    static final Path MODEL = Path.of("..", "docs", "model").toAbsolutePath().normalize();
    private static final Pattern STATES = Pattern.compile("(\\d+) states generated, (\\d+) distinct states found");
    private static final Pattern VIOLATED = Pattern.compile("Error: (?:Invariant|Action property) (\\w+) is violated");

    private final String module;
    private final Path folder;
    private final long seconds;

    /**
     * Creates a checker.
     *
     * @param module the specification
     * @param folder for what TLC writes
     * @param seconds for which it may run
     */
    Checker(String module, Path folder, long seconds) {
        this.module = module + ".tla";
        this.folder = folder;
        this.seconds = seconds;
    }

    /**
     * What TLC has found.
     *
     * @param states distinct ones
     * @param violated the property that doesn't hold, "none" if all do
     * @param output all that it has said
     */
    record Verdict(long states, String violated, String output) {}

    /** Checks what a configuration lists, by all rules. */
    Verdict check(String configuration) {
        return check(configuration, read(configuration));
    }

    /** Checks what a configuration lists, but the lemma, without one of the rules. */
    Verdict checkWithout(String rule, String configuration) {
        String text = read(configuration);
        String broken = text.replaceFirst("(?m)^( +" + rule + " = )TRUE$", "$1FALSE");
        if (broken.equals(text)) {
            throw new IllegalArgumentException(configuration + " knows no rule " + rule);
        }
        // It would be the first to fail, and say nothing about what that leads to.
        return check(configuration + "-without-" + rule, broken.replaceFirst("(?m)^ +ValidityIsOwned$\n", ""));
    }

    private static String read(String configuration) {
        try {
            return Files.readString(MODEL.resolve(configuration + ".cfg"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Verdict check(String title, String text) {
        Path log = folder.resolve(title + ".log");
        Path configuration = folder.resolve(title + ".cfg");
        try {
            // TLC looks for both where it runs.
            Files.copy(MODEL.resolve(module), folder.resolve(module), StandardCopyOption.REPLACE_EXISTING);
            Files.writeString(configuration, text);
            Process process = new ProcessBuilder(command(configuration, folder.resolve(title)))
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                    throw new AssertionError(title + " has not ended within " + seconds + " s\n" + tail(log));
                }
            } finally {
                process.destroyForcibly();
            }
            return verdict(process.exitValue(), Files.readString(log, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interlock's model was not checked to the end", e);
        }
    }

    private static String tail(Path log) throws IOException {
        List<String> lines = Files.readAllLines(log);
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
    }

    private List<String> command(Path configuration, Path states) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseParallelGC", "-Xmx768m"));
        command.addAll(List.of("-Djava.io.tmpdir=" + configuration.getParent()));
        command.addAll(List.of("-cp", classPath(), "tlc2.TLC", "-workers", "2", "-cleanup"));
        command.addAll(List.of(
                "-metadir",
                states.toString(),
                "-config",
                configuration.getFileName().toString()));
        command.add(module);
        return command;
    }

    private static String classPath() {
        // Surefire may put a jar with nothing but a manifest into java.class.path.
        String surefire = System.getProperty("surefire.test.class.path");
        return surefire != null ? surefire : System.getProperty("java.class.path");
    }

    private static Verdict verdict(int exit, String output) {
        Matcher counts = STATES.matcher(output);
        long states = 0;
        while (counts.find()) {
            states = Long.parseLong(counts.group(2));
        }
        if (exit == 0 && output.contains("Model checking completed. No error has been found.")) {
            return new Verdict(states, "none", output);
        }
        Matcher violation = VIOLATED.matcher(output);
        if (violation.find()) {
            return new Verdict(states, violation.group(1), output);
        }
        if (output.contains("Error: Temporal properties were violated.")) {
            return new Verdict(states, "Progress", output);
        }
        throw new AssertionError("TLC has failed with " + exit + "\n" + output);
    }
}
