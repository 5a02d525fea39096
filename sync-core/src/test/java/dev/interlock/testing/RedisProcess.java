package dev.interlock.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server of our own that cannot outlive this JVM.
 *
 * <p>Its parent is a shell that reads from this JVM. When this JVM ends, in whatever way, the shell reads end of file,
 * kills the server and deletes its folder. Told to {@code keep}, it only kills. It never waits for the server before it
 * has killed it, so a server that died by itself stays a zombie until then and the shell cannot hit a stranger that got
 * the same process id.
 */
final class RedisProcess {

    private static final String GUARD = """
            trap '' INT TERM HUP
            "$@" >>"$0/server.log" 2>&1 &
            p=$!
            echo "$p"
            read -r verb
            kill -9 "$p"
            wait "$p"
            [ "$verb" = keep ] || rm -rf "$0"
            """;

    private static final Duration MAX_START = Duration.ofSeconds(20);
    private static final Duration MAX_END = Duration.ofSeconds(20);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final int MAX_ATTEMPTS = 4;

    private static final String CONFIGURATION = "redis.conf";

    private final RedisBinary binary;
    private final List<String> extraArguments;
    private final Path folder;
    private final boolean isConfigured;
    private int port;
    private @Nullable Process guard;
    private long pid;

    private RedisProcess(RedisBinary binary, List<String> extraArguments, Path folder, boolean isConfigured) {
        this.binary = binary;
        this.extraArguments = extraArguments;
        this.folder = folder;
        this.isConfigured = isConfigured;
    }

    /**
     * Starts a server on a free port and returns when it answers.
     *
     * @param configuration the lines of a configuration file, empty for none; a sentinel needs one that it can write to
     */
    static RedisProcess launch(RedisBinary binary, String configuration, List<String> extraArguments) {
        Path folder;
        try {
            folder = Files.createTempDirectory("interlock-redis");
            if (!configuration.isEmpty()) {
                Files.writeString(folder.resolve(CONFIGURATION), configuration);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        var server = new RedisProcess(binary, extraArguments, folder, !configuration.isEmpty());
        server.start(0);
        return server;
    }

    /** The URL of the server, with its password if its arguments name one. */
    synchronized URI url() {
        int password = extraArguments.lastIndexOf("--requirepass") + 1;
        String userInfo = password == 0 ? "" : ":" + extraArguments.get(password) + "@";
        return URI.create("redis://" + userInfo + Loopback.HOST + ":" + port);
    }

    synchronized long pid() {
        return pid;
    }

    Path folder() {
        return folder;
    }

    /** Kills the server, keeps its files. */
    synchronized void kill() {
        end("keep\n");
    }

    /** Starts the server again on the same port, over the same files. */
    synchronized void restart() {
        kill();
        start(port);
    }

    /** Kills the server and deletes its files. */
    synchronized void close() {
        if (guard == null) {
            deleteFolder();
        } else {
            end("");
        }
    }

    private synchronized void start(int fixedPort) {
        long deadlineNanos = System.nanoTime() + MAX_START.toNanos();
        for (int attempt = 1; ; attempt++) {
            port = fixedPort == 0 ? Loopback.freePort() : fixedPort;
            // Another process may have taken the port in between: that shows as a failed start.
            String failure = tryStart(deadlineNanos);
            if (failure == null) {
                return;
            }
            String output = log();
            kill();
            if (attempt == MAX_ATTEMPTS || System.nanoTime() - deadlineNanos > 0) {
                if (fixedPort == 0) {
                    deleteFolder();
                }
                throw new IllegalStateException("Redis on port " + port + " " + failure + "; its output:\n" + output);
            }
        }
    }

    private @Nullable String tryStart(long deadlineNanos) {
        try {
            var process = new ProcessBuilder(commandLine())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            guard = process;
            String line = process.inputReader(StandardCharsets.US_ASCII).readLine();
            if (line == null) {
                return "was not started by sh, exit code " + process.waitFor();
            }
            pid = Long.parseLong(line);
            return awaitReady(deadlineNanos);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot launch Redis; set REDIS_URL to the URL of a running one", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while starting Redis", e);
        }
    }

    private List<String> commandLine() {
        var command = new ArrayList<>(List.of("sh", "-c", GUARD, folder.toString()));
        command.add(binary.path().toString());
        if (isConfigured) {
            command.add(folder.resolve(CONFIGURATION).toString());
        }
        command.addAll(List.of("--bind", Loopback.HOST, "--port", Integer.toString(port)));
        command.addAll(List.of("--dir", folder.toString(), "--save", "", "--appendonly", "no"));
        command.addAll(binary.debugArguments());
        command.addAll(extraArguments);
        return command;
    }

    /** Null as soon as it is our own server that answers; a complaint if it never does. */
    private @Nullable String awaitReady(long deadlineNanos) {
        String lastFailure = "";
        while (System.nanoTime() - deadlineNanos < 0) {
            if (hasDied()) {
                return "died at its start";
            }
            try (var connection = RespConnection.open(url(), MAX_START)) {
                ping(connection);
                String answering = Info.field(String.valueOf(connection.call("INFO", "server")), "process_id");
                return answering.equals(Long.toString(pid)) ? null : "lost its port to process " + answering;
            } catch (IOException | RespError e) {
                lastFailure = e.toString();
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        return "did not answer within " + MAX_START.toSeconds() + " s (" + lastFailure + ")";
    }

    private static void ping(RespConnection connection) throws IOException {
        try {
            connection.call("PING");
        } catch (RespError e) {
            // A replica that may not serve stale data answers so until its master is there.
            if (!e.getMessage().startsWith("MASTERDOWN")) {
                throw e;
            }
        }
    }

    private boolean hasDied() {
        // A zombie counts as alive for ProcessHandle, but has no command any more.
        return ProcessHandle.of(pid).map(p -> p.info().command().isEmpty()).orElse(true);
    }

    private void end(String lastWord) {
        var process = guard;
        if (process == null) {
            return;
        }
        guard = null;
        try (var stdin = process.getOutputStream()) {
            stdin.write(lastWord.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // The shell is gone already; waiting for it tells the rest.
        }
        try {
            if (!process.waitFor(MAX_END.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("Redis " + pid + " did not end within " + MAX_END.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String log() {
        try {
            return Files.readString(folder.resolve("server.log"));
        } catch (IOException e) {
            return "(none: " + e + ")";
        }
    }

    private void deleteFolder() {
        if (!Files.exists(folder)) {
            return;
        }
        try (var all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
