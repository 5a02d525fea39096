package dev.interlock.benchmarks.servers;

import java.io.Serial;

/** Says why a server can't be had. */
final class AbsentException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    AbsentException(String reason) {
        super(reason);
    }

    AbsentException(String reason, Throwable cause) {
        super(reason + " (" + cause.getMessage() + ")", cause);
    }
}
