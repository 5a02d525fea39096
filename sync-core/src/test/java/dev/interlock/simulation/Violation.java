package dev.interlock.simulation;

import org.jspecify.annotations.Nullable;

/** Something has happened that the library promises not to happen. */
final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Violation(String message) {
        super(message);
    }

    Violation(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
