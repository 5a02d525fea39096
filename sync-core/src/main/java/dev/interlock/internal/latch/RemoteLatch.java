package dev.interlock.internal.latch;

import java.util.concurrent.CompletableFuture;

/** The remote half of a latch, which decides when the {@link LocalLatch} is opened. */
public interface RemoteLatch {
    /** A count of which nothing was heard yet. */
    long UNKNOWN = -1;

    /** Returns the name. */
    String name();

    /**
     * Joins the latch, or finds out whether what was joined is still the latch of this name.
     *
     * @param wanted what the caller believes that it begins with
     * @return whether it is; if not, another object has to be made
     * @throws IllegalArgumentException if the latch has begun with another count
     * @throws IllegalStateException if the session is closed, or Redis refuses
     * @throws dev.interlock.RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    boolean join(int wanted);

    /** Returns whether the latch is known to be open. It remains so, whatever becomes of the session. */
    boolean isOpen();

    /**
     * Returns the count as far as it is known, without asking.
     *
     * @return the count, 0 if the latch is open, {@link #UNKNOWN} if it was never heard of
     */
    long knownCount();

    /**
     * Asks for the count.
     *
     * @throws IllegalStateException as {@link #ensureUsable}
     * @throws dev.interlock.RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    long count();

    /**
     * Counts down by one, and waits for the confirmation one command time-out at most.
     *
     * @throws IllegalStateException as {@link #ensureUsable}
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

    /**
     * Throws {@link IllegalStateException} if the latch is lost, its session closed, or what was asked for those who
     * wait was refused, unless it is known to be open. After a refusal it can be used again as soon as those have left.
     */
    void ensureUsable();
}
