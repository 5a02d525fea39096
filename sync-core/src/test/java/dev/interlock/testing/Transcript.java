package dev.interlock.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** What a child has said so far, and which of its lines somebody still may wait for. */
final class Transcript {

    private static final int MAX_ERROR_LINES = 1_000;
    private static final Duration MAX_DRAIN = Duration.ofSeconds(5);

    private final String name;
    private final List<String> lines = new ArrayList<>();
    private final List<String> unconsumed = new ArrayList<>();
    private final Deque<String> errors = new ArrayDeque<>();
    private int openStreams;

    Transcript(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    void record(Process process) {
        openStreams = 2;
        read(process.getInputStream(), "out", this::addLine);
        read(process.getErrorStream(), "err", this::addError);
    }

    synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    synchronized String await(String prefix, Duration timeout) {
        long deadlineNanos = System.nanoTime() + timeout.toNanos();
        while (true) {
            for (int i = 0; i < unconsumed.size(); i++) {
                if (unconsumed.get(i).startsWith(prefix)) {
                    return unconsumed.remove(i);
                }
            }
            long leftNanos = deadlineNanos - System.nanoTime();
            if (openStreams == 0) {
                throw new AssertionError(name + " ended without '" + prefix + "'\n" + this);
            }
            if (leftNanos <= 0) {
                throw new AssertionError(name + " did not say '" + prefix + "' within " + timeout + "\n" + this);
            }
            pause(leftNanos);
        }
    }

    /**
     * Waits for the end of both streams; bounded, since a process that the child has left behind may hold them open.
     */
    synchronized void awaitEnd() throws InterruptedException {
        long deadlineNanos = System.nanoTime() + MAX_DRAIN.toNanos();
        for (long leftNanos = MAX_DRAIN.toNanos(); openStreams > 0 && leftNanos > 0; ) {
            TimeUnit.NANOSECONDS.timedWait(this, leftNanos);
            leftNanos = deadlineNanos - System.nanoTime();
        }
    }

    @Override
    public synchronized String toString() {
        return "--- output of " + name + "\n" + String.join("\n", lines) + "\n--- errors of " + name + "\n"
                + String.join("\n", errors) + "\n---";
    }

    private void pause(long maxNanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(this, maxNanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for " + name, e);
        }
    }

    private void read(InputStream stream, String kind, Consumer<String> sink) {
        var reader = new Thread(() -> drain(stream, sink), name + "-" + kind);
        reader.setDaemon(true);
        reader.start();
    }

    private void drain(InputStream stream, Consumer<String> sink) {
        try (var reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                sink.accept(line);
            }
        } catch (IOException e) {
            addError("(output lost: " + e + ")"); // a killed process closes its streams under our hands
        } finally {
            streamEnded();
        }
    }

    private synchronized void addLine(String line) {
        lines.add(line);
        unconsumed.add(line);
        notifyAll();
    }

    private synchronized void addError(String line) {
        errors.add(line);
        if (errors.size() > MAX_ERROR_LINES) {
            errors.remove();
        }
    }

    private synchronized void streamEnded() {
        openStreams--;
        notifyAll();
    }
}
