package dev.interlock.examples.semaphore;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A database that serves a few connections at a time and refuses any more, as databases do. It answers {@code query}
 * and {@code quit}.
 */
final class Database implements AutoCloseable {

    private final ServerSocket listener;
    private final int limit;
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger answered = new AtomicInteger();

    Database(int limit) {
        this.limit = limit;
        try {
            listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon("database", this::listen).start();
    }

    private static Thread daemon(String name, Runnable task) {
        var thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    int port() {
        return listener.getLocalPort();
    }

    int open() {
        return open.get();
    }

    /** The most connections that were open at a time. */
    int most() {
        return most.get();
    }

    int refused() {
        return refused.get();
    }

    int answered() {
        return answered.get();
    }

    private void listen() {
        while (!listener.isClosed()) {
            try {
                Socket connection = listener.accept();
                daemon("connection", () -> serve(connection)).start();
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket connection) {
        int now = open.incrementAndGet();
        boolean isOpen = true;
        try (connection;
                var lines =
                        new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8));
                var answers = new PrintWriter(connection.getOutputStream(), true, StandardCharsets.UTF_8)) {
            if (now > limit) {
                refused.incrementAndGet();
                answers.println("too many connections");
                return;
            }
            most.accumulateAndGet(now, Math::max);
            answers.println("welcome");
            while ("query".equals(lines.readLine())) {
                answered.incrementAndGet();
                answers.println("42");
            }
            // Before the client knows that it is closed, and lets the next one come.
            open.decrementAndGet();
            isOpen = false;
            answers.println("bye");
        } catch (IOException e) {
            // The client is dead.
        } finally {
            if (isOpen) {
                open.decrementAndGet();
            }
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
