package dev.interlock.testing;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Many threads of this JVM. What one of them throws fails the test that {@linkplain #join joins} them. */
public final class Crew {

    private static final long STACK_BYTES = 256 * 1024;

    private final List<Thread> threads = new ArrayList<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

    public void start(Runnable task) {
        var thread = new Thread(null, task, "crew-" + threads.size(), STACK_BYTES);
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((failed, failure) -> failures.add(failure));
        threads.add(thread);
        thread.start();
    }

    /** Waits until all have ended, or one has failed. */
    public void join(Duration timeout) {
        await("the end of " + threads.size() + " threads")
                .atMost(timeout)
                .until(() -> !failures.isEmpty() || threads.stream().noneMatch(Thread::isAlive));
        if (!failures.isEmpty()) {
            var error = new AssertionError(failures.size() + " threads failed");
            failures.stream().limit(10).forEach(error::addSuppressed);
            throw error;
        }
    }
}
