package dev.interlock.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** POSIX signals to a process, beyond what {@link ProcessHandle} can send. */
final class Signals {

    private static final Duration MAX_WAIT = Duration.ofSeconds(10);
    private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private Signals() {}

    /** Stops a process; on Linux it has stopped, with all its threads, when this method returns. */
    static void stop(long pid) {
        send("STOP", pid);
        Path tasks = Path.of("/proc", Long.toString(pid), "task");
        long deadlineNanos = System.nanoTime() + MAX_WAIT.toNanos();
        while (Files.isDirectory(tasks) && !allStopped(tasks)) {
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new IllegalStateException("Process " + pid + " does not stop");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** Lets a stopped process go on. */
    static void resume(long pid) {
        send("CONT", pid);
    }

    /** Asks a process to end. */
    static void terminate(long pid) {
        send("TERM", pid);
    }

    private static void send(String signal, long pid) {
        try {
            var kill = new ProcessBuilder("kill", "-" + signal, Long.toString(pid))
                    .redirectErrorStream(true)
                    .start();
            kill.getOutputStream().close();
            var output = new String(kill.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (kill.waitFor() != 0) {
                throw new IllegalStateException("SIG" + signal + " to " + pid + ": " + output.strip());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while sending SIG" + signal, e);
        }
    }

    private static boolean allStopped(Path tasks) {
        try (var all = Files.list(tasks)) {
            return all.allMatch(Signals::isStopped);
        } catch (IOException e) {
            return true; // the process is gone
        }
    }

    private static boolean isStopped(Path task) {
        try {
            String stat = Files.readString(task.resolve("stat"));
            char state = stat.charAt(stat.lastIndexOf(')') + 2);
            return state == 'T' || state == 't' || state == 'Z' || state == 'X';
        } catch (IOException e) {
            return true; // the thread is gone
        }
    }
}
