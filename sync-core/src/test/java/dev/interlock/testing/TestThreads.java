package dev.interlock.testing;

import com.google.common.util.concurrent.Uninterruptibles;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The threads that a test starts. None outlives it, and none fails in silence: {@link #close()} joins them all,
 * interrupts those that don't end, and throws what they threw unless the test has already seen it.
 */
public final class TestThreads implements AutoCloseable {

    private final Duration patience;
    private final Queue<Running<?>> started = new ConcurrentLinkedQueue<>();

    /** {@code patience} bounds every wait for a thread. */
    public TestThreads(Duration patience) {
        this.patience = patience;
    }

    public <T> Running<T> start(String name, Callable<T> body) {
        return start(body, task -> new Thread(task, name));
    }

    public Running<Boolean> start(String name, Action body) {
        return start(name, returningTrue(body));
    }

    /** As {@link #start(String, Action)}, in a virtual thread, which needs JDK 21. */
    public Running<Boolean> startVirtual(Action body) {
        return start(returningTrue(body), TestThreads::newVirtualThread);
    }

    private <T> Running<T> start(Callable<T> body, Function<Runnable, Thread> factory) {
        Running<T> running = new Running<>(body, factory, patience);
        started.add(running);
        running.thread.start();
        return running;
    }

    private static Callable<Boolean> returningTrue(Action body) {
        return () -> {
            body.run();
            return true;
        };
    }

    private static Thread newVirtualThread(Runnable task) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Method unstarted = Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class);
            return (Thread) unstarted.invoke(builder, task);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("virtual threads need JDK 21", e);
        }
    }

    @Override
    public void close() {
        List<Throwable> failures = new ArrayList<>();
        long deadline = System.nanoTime() + patience.toNanos();
        for (Running<?> running : started) {
            running.join(deadline - System.nanoTime());
        }
        for (Running<?> running : started) {
            if (running.thread.isAlive()) {
                failures.add(running.stuck());
                running.thread.interrupt();
            }
        }
        deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        for (Running<?> running : started) {
            running.join(deadline - System.nanoTime());
            running.reportUnseen(failures);
        }
        started.clear();
        if (!failures.isEmpty()) {
            AssertionError error = new AssertionError(failures.size() + " thread(s) failed", failures.remove(0));
            failures.forEach(error::addSuppressed);
            throw error;
        }
    }

    public interface Action {
        void run() throws InterruptedException;
    }

    /** A thread that was started, and what becomes of its body. */
    public static final class Running<T> {
        private final Callable<T> body;
        private final Thread thread;
        private final Duration patience;
        // Written by the thread, read after its death.
        private @Nullable T result;
        private @Nullable Throwable failure;
        private boolean failureSeen;

        private Running(Callable<T> body, Function<Runnable, Thread> factory, Duration patience) {
            this.body = body;
            this.thread = factory.apply(this::run);
            this.thread.setDaemon(true);
            this.patience = patience;
        }

        private void run() {
            try {
                result = body.call();
            } catch (Throwable e) {
                failure = e;
            }
        }

        public Thread thread() {
            return thread;
        }

        /** What the body returned, once its thread has died; fails as the body did. */
        public T result() {
            if (!endsWithin(patience)) {
                throw stuck();
            }
            failureSeen = true;
            if (failure != null) {
                throw new AssertionError(thread.getName() + " failed: " + failure.getMessage(), failure);
            }
            return Objects.requireNonNull(result);
        }

        /** Whether the thread dies within this time, of whatever cause. */
        public boolean endsWithin(Duration wait) {
            join(wait.toNanos());
            return !thread.isAlive();
        }

        private void join(long nanos) {
            Uninterruptibles.joinUninterruptibly(thread, Math.max(nanos, 1), TimeUnit.NANOSECONDS);
        }

        private AssertionError stuck() {
            AssertionError error = new AssertionError(thread.getName() + " doesn't end; it is " + thread.getState());
            error.setStackTrace(thread.getStackTrace());
            return error;
        }

        private void reportUnseen(List<Throwable> failures) {
            if (!thread.isAlive() && failure != null && !failureSeen) {
                failures.add(failure);
            }
        }
    }
}
