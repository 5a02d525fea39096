package dev.interlock.internal.session;

/** Runs tasks later. */
@FunctionalInterface
public interface Timer {
    /** Runs a task that doesn't block, unless the session is closed before. */
    void schedule(Runnable task, long millis);
}
