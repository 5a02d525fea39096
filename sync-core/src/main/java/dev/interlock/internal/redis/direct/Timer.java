package dev.interlock.internal.redis.direct;

/** Runs tasks later, on a thread that must not block. */
@FunctionalInterface
public interface Timer {
    /** Runs a task then, unless the session is closed before. */
    void schedule(Runnable task, long millis);
}
