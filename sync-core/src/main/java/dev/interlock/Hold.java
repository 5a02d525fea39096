package dev.interlock;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * The exclusive right to one or several names, or permits of a semaphore, which belongs to no thread: it is passed on
 * like any other object, and any thread may release it. Obtained from {@link Holds}.
 *
 * <p>A hold is renewed until it is released, unless it has a {@linkplain Holds#lease fixed lease}. It isn't reentrant:
 * whoever asks for the same name again waits until it is released. A hold that is never released and has no fixed lease
 * stays held until the session is closed, even if it becomes unreachable.
 *
 * <p>All methods may be called by any thread. Those that return a stage don't block.
 */
public interface Hold extends AutoCloseable {
    /** Returns the names that are held, in the order in which they were acquired. */
    Set<String> names();

    /**
     * Returns the name that is held.
     *
     * @throws IllegalStateException if there are several, see {@link #names()}
     */
    String name();

    /**
     * Returns the fencing token of this hold: greater than those of all earlier holds and locks of the name.
     *
     * @throws LeaseLostException if the hold has been lost
     * @throws IllegalStateException if it has been released, or is one of several names, see
     *     {@link #fencingToken(String)}
     * @throws UnsupportedOperationException if it is one of permits, which have no tokens
     * @throws RedisUnavailableException as {@link #assertValid()}
     */
    long fencingToken();

    /**
     * Returns the fencing token for one of the names.
     *
     * @param name one of {@link #names()}
     * @throws IllegalArgumentException if it is none of them
     * @throws LeaseLostException if the hold has been lost
     * @throws IllegalStateException if it has been released
     * @throws RedisUnavailableException as {@link #assertValid()}
     */
    long fencingToken(String name);

    /**
     * Returns whether it is certain, as far as this session knows, that no other session has any of the names. Doesn't
     * ask Redis. It is not certain after the hold was lost or released, and while the machine was suspended and Redis
     * has not been asked since.
     */
    boolean isValid();

    /**
     * Throws unless the hold is valid. Asks Redis only if the machine was suspended since it was last renewed.
     *
     * @throws LeaseLostException if the hold has been lost
     * @throws IllegalStateException if it has been released
     * @throws RedisUnavailableException if Redis had to be asked, and has not answered within one command time-out
     */
    void assertValid();

    /**
     * Returns a stage that completes when the hold is lost. By then another session may hold the name, or have held it.
     * It never completes if the hold is released before, and doesn't complete exceptionally. If several names are held,
     * the first of them that is lost completes it.
     *
     * @return a stage with {@link LeaseLostException#lockName() the name} and the reason. It completes on the
     *     {@linkplain InterlockBuilder#holdExecutor executor} for holds
     */
    CompletionStage<LeaseLostException> lost();

    /**
     * Extends the {@linkplain Holds#lease fixed lease} of this hold to at least the given time from now, by the clock
     * of Redis. A lease that lasts longer isn't shortened, so it doesn't matter in which order several calls take
     * effect. If several names are held, the lease of each is extended; if that fails for one of them, it may have been
     * done for others.
     *
     * <p>The hold counts on the longer lease once the stage has completed. If it completes with a
     * {@link RedisUnavailableException}, the lease may have been extended or not: the hold goes on with the old one,
     * and the call may be repeated.
     *
     * @param lease 100 ms to 365 days
     * @return a stage that completes when Redis has confirmed it. It completes with a {@link LeaseLostException} if the
     *     hold has been lost, or is lost before the answer comes; with a {@link RedisUnavailableException} if there is
     *     no answer within one command time-out; and with an {@link IllegalStateException} if the hold is released
     *     meanwhile, or Redis refuses the command
     * @throws IllegalArgumentException if {@code lease} is out of its range
     * @throws IllegalStateException if the hold has been released
     * @throws UnsupportedOperationException if the hold is renewed, and so needs no extension
     */
    CompletionStage<Void> extend(Duration lease);

    /**
     * Releases the hold. Further calls have no effect, and return a stage that completes when the first one's does.
     *
     * @return a stage that completes when others may have the names: Redis has confirmed the release, or the session
     *     keeps the name for its next hold. It completes with a {@link LeaseLostException} if the hold turns out to
     *     have been lost, and with a {@link RedisUnavailableException}, or an {@link IllegalStateException} if Redis
     *     has refused it, if the release wasn't confirmed before the lease was over
     */
    CompletionStage<Void> release();

    /**
     * Releases the hold without waiting for that, for use in a {@code try} statement.
     *
     * @throws LeaseLostException if the hold is known to have been lost before it was released
     */
    @Override
    void close();
}
