package dev.interlock.internal.latch;

import java.util.concurrent.CompletableFuture;

/** The remote half of a latch, which decides when the {@link LocalLatch} is opened. */
public interface RemoteLatch {
    /** Returns what is known of the latch. */
    LatchState state();

    /** Asks how the latch stands. The result completes when the state says it. */
    CompletableFuture<?> ask();

    /** Joins the latch, as any answer of our own script does. The result completes when the state says whether. */
    default CompletableFuture<?> join() {
        return ask();
    }

    /**
     * Counts down by one, and waits for the confirmation one command time-out at most.
     *
     * @throws IllegalStateException if the latch is lost, its session closed, or Redis refuses
     */
    void countDown();

    /**
     * A thread comes to wait: the local half is opened when the latch is, or when that has become unusable.
     *
     * @param asks whether the thread has to know the state as of now
     * @return if the thread asks, completes when Redis has answered a command that was sent after the call
     */
    CompletableFuture<?> arrive(boolean asks);

    /** A thread that has {@linkplain #arrive arrived} waits no more. */
    void leave();
}
