package dev.interlock.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One thread that does what it is told, one thing after the other: holds belong to threads, so a test that is about
 * holds has to say who does what.
 */
public final class Actor implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    /** What an actor is told to do. */
    public interface Action {
        void run() throws InterruptedException;
    }

    private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final Thread thread;
    private volatile boolean done;

    public Actor(String name) {
        thread = new Thread(this::work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void work() {
        while (!done) {
            try {
                tasks.take().run();
            } catch (InterruptedException e) {
                // An interrupt that came too late for what it was meant for.
            }
        }
    }

    /** Begins something that has a result. */
    public <T> CompletableFuture<T> ask(Callable<T> what) {
        CompletableFuture<T> result = new CompletableFuture<>();
        tasks.add(() -> {
            try {
                result.complete(what.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    /** Begins something that has no result; it is true when it is done. */
    public CompletableFuture<Boolean> begin(Action what) {
        return ask(() -> {
            what.run();
            return true;
        });
    }

    /** Does something, and returns its result or throws its unchecked failure. */
    public <T> T get(Callable<T> what) {
        return result(ask(what));
    }

    /** Does something. */
    public void run(Action what) {
        assertThat(result(begin(what))).isTrue();
    }

    private <T> T result(CompletableFuture<T> future) {
        try {
            return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CompletionException(e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            if (cause instanceof Error error) {
                throw error;
            }
            throw new CompletionException(cause);
        } catch (TimeoutException e) {
            throw stuck();
        }
    }

    private AssertionError stuck() {
        AssertionError error = new AssertionError(thread.getName() + " hangs, " + thread.getState());
        error.setStackTrace(thread.getStackTrace());
        return error;
    }

    public void interrupt() {
        thread.interrupt();
    }

    public Thread thread() {
        return thread;
    }

    /** Ends the thread. Fails, with its stack trace, if it is stuck in something. */
    @Override
    public void close() {
        tasks.add(() -> done = true);
        try {
            thread.join(PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            throw stuck();
        }
    }
}
