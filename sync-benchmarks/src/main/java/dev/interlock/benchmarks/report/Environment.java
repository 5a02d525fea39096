package dev.interlock.benchmarks.report;

import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a result depends on.
 *
 * @param date when it was measured
 * @param commit of the work tree that the classes lie in, {@code -dirty} if it has changes; null if they lie elsewhere
 * @param command that measured it
 * @param jdk name and version of the JVM
 * @param redis version of the server
 * @param versions of the peers, by name
 * @param os its name and architecture
 * @param cores as the JVM sees them
 * @param load the average of the last minute before the run, negative if unknown; more than a little disturbs
 */
public record Environment(
        String date,
        @Nullable String commit,
        String command,
        String jdk,
        String redis,
        Map<String, String> versions,
        String os,
        int cores,
        double load) {

    /** Copies the versions. */
    public Environment {
        versions = new TreeMap<>(versions);
    }

    /** This one, with no peers yet. */
    public static Environment of(RedisServer server, String command) {
        return new Environment(
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                commitOfClasses(),
                command,
                System.getProperty("java.vm.name") + " " + Runtime.version(),
                redisVersion(server),
                Map.of(),
                System.getProperty("os.name") + " " + System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    /** The same with peers. */
    public Environment with(Map<String, String> versionsOfPeers) {
        return new Environment(date, commit, command, jdk, redis, versionsOfPeers, os, cores, load);
    }

    private static String redisVersion(RedisServer server) {
        return String.valueOf(server.command("INFO", "server"))
                .lines()
                .filter(line -> line.startsWith("redis_version:"))
                .map(line -> line.substring("redis_version:".length()))
                .findFirst()
                .orElse("unknown");
    }

    private static @Nullable String commitOfClasses() {
        try {
            var source = Environment.class.getProtectionDomain().getCodeSource();
            Path classes = Path.of(source.getLocation().toURI());
            Process git = new ProcessBuilder("git", "describe", "--always", "--dirty", "--exclude=*")
                    .directory(classes.resolveSibling(".").toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String commit = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return commit.isEmpty() ? null : commit;
        } catch (IOException | URISyntaxException e) {
            return null; // no git, no work tree: the result stands without
        }
    }
}
