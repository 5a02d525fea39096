package dev.interlock.internal.session;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A name, or permits, held by no thread. */
public interface Holding {
    /** Returns the name of what is held. */
    String name();

    /**
     * Returns the fencing token, whether or not the holding is still valid.
     *
     * @throws UnsupportedOperationException if it is one of permits
     */
    long token();

    /** Returns the loss, if it was seen to be lost before it was released. */
    @Nullable
    LeaseLostException loss();

    /** Returns whether it is certain that it is this session's. */
    boolean isValid();

    /**
     * Throws unless it is valid. Asks Redis if the machine was suspended.
     *
     * @throws LeaseLostException if it is lost
     * @throws IllegalStateException if it was released
     * @throws RedisUnavailableException if Redis has to be asked, and doesn't answer
     */
    void assertValid();

    /** Returns what completes when it is lost. */
    CompletionStage<LeaseLostException> lost();

    /**
     * Extends a fixed lease to at least so long from now. Returns a future that completes when Redis has confirmed it.
     *
     * @throws UnsupportedOperationException if it is renewed
     */
    CompletableFuture<Void> extend(long leaseMillis);

    /** Gives it back. Returns what completes when others may have it; the same if it is called again. */
    CompletableFuture<Void> release();

    /** Gives it back without waiting for that. Throws the loss if that is known. */
    void close();
}
