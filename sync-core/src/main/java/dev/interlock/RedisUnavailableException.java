package dev.interlock;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when Redis has not answered within the bounds of the call. Nothing is held by the caller then, and whatever
 * Redis may have granted meanwhile is given back in the background.
 */
public final class RedisUnavailableException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted, and for how long
     * @param cause the last failure seen, or null if there was only silence
     */
    public RedisUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
