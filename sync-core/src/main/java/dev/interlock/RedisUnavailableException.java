package dev.interlock;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when Redis has not answered within the bounds of the call. The caller holds nothing then, and the session
 * releases in the background what Redis may have granted.
 */
public final class RedisUnavailableException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was attempted, and for how long
     * @param cause the last failure, or null if Redis was only silent
     */
    public RedisUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
