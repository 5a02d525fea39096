package dev.interlock.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A JVM of its own that runs a main class with this JVM's class path and talks to this one in lines.
 *
 * <pre>{@code
 * try (ChildJvm child = ChildJvm.start(Holder.class, server.url())) {
 *     child.await("READY", Duration.ofSeconds(20));
 *     child.send("lock");
 *     child.await("LOCKED", Duration.ofSeconds(5));
 *     child.kill();
 * }
 * }</pre>
 *
 * <p>The child speaks through {@link ChildConsole}, and has the JIT compilers that this JVM has. It ends with this JVM,
 * even if this one is killed.
 */
public final class ChildJvm implements AutoCloseable {

    private static final List<String> DEFAULT_OPTIONS = Stream.concat(
                    Stream.of("-Xmx256m", "-XX:+UseSerialGC", "-Xshare:auto", "-Dfile.encoding=UTF-8"),
                    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                            .filter(option -> option.startsWith("-XX:TieredStopAtLevel=")))
            .toList();
    private static final Duration MAX_END = Duration.ofSeconds(20);
    private static final Set<ChildJvm> ALIVE = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> ALIVE.forEach(ChildJvm::destroy), "children-end"));
    }

    private final Process process;
    private final Transcript transcript;
    private @Nullable Process stopGuard;

    private ChildJvm(Process process, Transcript transcript) {
        this.process = process;
        this.transcript = transcript;
    }

    /** Starts a child with default options. */
    public static ChildJvm start(Class<?> mainClass, String... arguments) {
        return of(mainClass).arguments(arguments).start();
    }

    /** Begins the description of a child. */
    public static Builder of(Class<?> mainClass) {
        return new Builder(mainClass);
    }

    /** Sends a line to the child. */
    public void send(String line) {
        try {
            var stdin = process.getOutputStream();
            synchronized (stdin) {
                stdin.write((line + "\n").getBytes(StandardCharsets.UTF_8));
                stdin.flush();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot send '" + line + "' to " + this + "\n" + transcript, e);
        }
    }

    /**
     * Waits for a line of the child that starts with a prefix, and consumes it. Lines with other beginnings stay for
     * later calls.
     *
     * @throws AssertionError with the output of the child, if no such line comes in time or the child ends without it
     */
    public String await(String prefix, Duration timeout) {
        return transcript.await(prefix, timeout);
    }

    /** All lines of standard output so far, consumed or not. */
    public List<String> lines() {
        return transcript.lines();
    }

    /** Kills the child as {@code kill -9} does; when this method returns, the process is gone. */
    public void kill() {
        destroy();
        waitFor(MAX_END);
        releaseStopGuard();
    }

    /** Sends the signal, and waits for nothing. */
    public void destroy() {
        process.destroyForcibly();
    }

    /** Asks the child to end as {@code kill -TERM} does: its shutdown hooks run. Waits for nothing. */
    public void terminate() {
        // Not by destroy(), which closes the pipe by which the child knows of this JVM.
        Signals.terminate(pid());
    }

    /** Stops the child as {@code kill -STOP} does: a pause of any length at an arbitrary point. */
    public synchronized void stop() {
        if (stopGuard == null) {
            stopGuard = startStopGuard();
        }
        Signals.stop(pid());
    }

    /** Lets a stopped child go on. */
    public void cont() {
        Signals.resume(pid());
        releaseStopGuard();
    }

    /** What {@code jstack} prints of the child: what its threads do. Of a stopped child it says why it can't. */
    public String stacks() {
        try {
            Path jstack = Path.of(System.getProperty("java.home"), "bin", "jstack");
            Process running = new ProcessBuilder("timeout", "10", jstack.toString(), Long.toString(pid()))
                    .redirectErrorStream(true)
                    .start();
            return new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "No stacks of " + this + ": " + e.getMessage();
        }
    }

    /** The process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether the process exists, stopped or not. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Waits for the end of the child, and for all its output.
     *
     * @return its exit code; 137 after {@link #kill()}
     * @throws AssertionError with the output of the child, if it does not end in time
     */
    public int waitFor(Duration timeout) {
        try {
            if (!process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new AssertionError(this + " has not ended within " + timeout + "\n" + transcript);
            }
            transcript.awaitEnd();
            ALIVE.remove(this);
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for " + this, e);
        }
    }

    /** Kills the child. */
    @Override
    public void close() {
        kill();
    }

    @Override
    public String toString() {
        return transcript.name() + " (" + (isAlive() ? "pid " + pid() : "ended with " + process.exitValue()) + ")";
    }

    /** A stopped child cannot notice the end of this JVM; a shell has to kill it then. */
    private Process startStopGuard() {
        try {
            return new ProcessBuilder(
                            "sh", "-c", "trap '' INT TERM HUP; read -r released || kill -9 \"$0\"", "" + pid())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private synchronized void releaseStopGuard() {
        if (stopGuard == null) {
            return;
        }
        try (var stdin = stopGuard.getOutputStream()) {
            stdin.write("released\n".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            stopGuard = null;
        }
    }

    /** What a child is to be started with. */
    public static final class Builder {

        private final Class<?> mainClass;
        private final List<String> options = new ArrayList<>(DEFAULT_OPTIONS);
        private final Map<String, String> environment = new HashMap<>();
        private List<String> arguments = List.of();
        private Path home = Path.of(System.getProperty("java.home"));
        private String classPath = ownClassPath();

        private Builder(Class<?> mainClass) {
            this.mainClass = mainClass;
        }

        /** Adds options of the JVM, such as {@code -Xmx1g}; a later option overrides an earlier one. */
        public Builder options(String... jvmOptions) {
            return options(List.of(jvmOptions));
        }

        /** Adds options of the JVM. */
        public Builder options(Collection<String> jvmOptions) {
            options.addAll(jvmOptions);
            return this;
        }

        /** Sets an environment variable, in addition to those of this JVM. */
        public Builder environment(String name, String value) {
            environment.put(name, value);
            return this;
        }

        /** Sets the arguments of the main method. */
        public Builder arguments(String... mainArguments) {
            arguments = List.of(mainArguments);
            return this;
        }

        /** Takes another JDK than that of this JVM. */
        public Builder home(Path javaHome) {
            home = javaHome;
            return this;
        }

        /** Takes the library from a jar instead of this build. */
        public Builder library(Path jar) {
            String own = OtherVersion.path(OtherVersion.ownClasses()).toString();
            List<String> elements = List.of(classPath.split(Pattern.quote(File.pathSeparator)));
            if (!elements.contains(own)) {
                throw new IllegalStateException(own + " isn't in " + classPath);
            }
            classPath = elements.stream()
                    .map(element -> element.equals(own) ? jar.toString() : element)
                    .collect(Collectors.joining(File.pathSeparator));
            return this;
        }

        /** Starts the child; does not wait until it runs. */
        public ChildJvm start() {
            var command = new ArrayList<String>();
            command.add(home.resolve("bin").resolve("java").toString());
            command.addAll(options);
            String transport = System.getProperty("interlock.transport");
            if (transport != null) {
                command.add("-Dinterlock.transport=" + transport);
            }
            command.addAll(List.of("-cp", classPath, ChildConsole.class.getName(), mainClass.getName()));
            command.addAll(arguments);
            var builder = new ProcessBuilder(command);
            builder.environment().putAll(environment);
            try {
                Process process = builder.start();
                var transcript = new Transcript(mainClass.getSimpleName() + "-" + process.pid());
                transcript.record(process);
                var child = new ChildJvm(process, transcript);
                ALIVE.add(child);
                return child;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static String ownClassPath() {
            // Surefire may put a jar with nothing but a manifest into java.class.path.
            String surefire = System.getProperty("surefire.test.class.path");
            return surefire != null ? surefire : System.getProperty("java.class.path");
        }
    }
}
