package dev.interlock.benchmarks.servers;

import com.google.common.base.Splitter;
import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A server process that cannot outlive this JVM. Its parent is a shell that reads from this JVM. When this JVM ends, in
 * whatever way, the shell reads end of file, ends the server and deletes its folder.
 */
final class Daemon implements AutoCloseable {

    private static final String GUARD = """
            trap '' INT TERM HUP
            signal=$1
            shift
            "$@" >>"$0/server.log" 2>&1 &
            p=$!
            read -r never
            kill "-$signal" "$p"
            wait "$p"
            rm -rf "$0"
            """;

    private static final Duration MAX_START = Duration.ofSeconds(30);
    private static final Duration MAX_END = Duration.ofSeconds(30);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final String name;
    private final Path folder;
    private final Process guard;

    private Daemon(String name, Path folder, Process guard) {
        this.name = name;
        this.folder = folder;
        this.guard = guard;
    }

    /**
     * Starts a server.
     *
     * @param name for messages
     * @param folder which is the server's working directory, takes its output, and is deleted at its end
     * @param signal that ends it
     * @param command its command line
     */
    static Daemon start(String name, Path folder, String signal, List<String> command) {
        var guarded = new ArrayList<>(List.of("sh", "-c", GUARD, folder.toString(), signal));
        guarded.addAll(command);
        try {
            return new Daemon(
                    name,
                    folder,
                    new ProcessBuilder(guarded)
                            .directory(folder.toFile())
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Asks until there is an answer.
     *
     * @param question throws an IllegalStateException as long as the server isn't ready
     * @throws AbsentException with the end of the server's output, after the server has been ended, if it never is
     */
    <T> T await(Supplier<T> question) {
        long deadlineNanos = System.nanoTime() + MAX_START.toNanos();
        while (true) {
            try {
                return question.get();
            } catch (IllegalStateException e) {
                if (System.nanoTime() - deadlineNanos > 0
                        || Thread.currentThread().isInterrupted()) {
                    String output = lastOutput();
                    close();
                    throw new AbsentException(name + " didn't start: " + output, e);
                }
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private String lastOutput() {
        try {
            List<String> lines = Files.readAllLines(folder.resolve("server.log"));
            return lines.isEmpty() ? "no output" : lines.get(lines.size() - 1);
        } catch (IOException e) {
            return "no output: " + e.getMessage();
        }
    }

    /** Where a program is: in one of these folders, or on the path of an environment. */
    static Optional<Path> find(String program, Stream<Path> folders, Map<String, String> environment) {
        Stream<Path> path = Splitter.on(File.pathSeparatorChar)
                .omitEmptyStrings()
                .splitToStream(environment.getOrDefault("PATH", ""))
                .map(Path::of);
        return Stream.concat(folders, path)
                .map(folder -> folder.resolve(program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** A port of loopback that is free right now. */
    static int freePort() {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A folder for a server. */
    static Path newFolder() {
        try {
            return Files.createTempDirectory("interlock-server");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes the folder of a server that never ran. */
    static void delete(Path folder) {
        try {
            MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            guard.getOutputStream().close();
            if (!guard.waitFor(MAX_END.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException(name + " did not end");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
