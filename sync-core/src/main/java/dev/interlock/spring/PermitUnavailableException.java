package dev.interlock.spring;

import dev.interlock.internal.Names;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** Thrown instead of running a {@link Permitted} method, because no permit was available in time. */
public final class PermitUnavailableException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String permitName;

    PermitUnavailableException(String permitName, String why, @Nullable Throwable cause) {
        super("no permit of " + Names.quoted(permitName) + " was acquired: " + why, cause);
        this.permitName = permitName;
    }

    /** Returns the name of the annotation, evaluated for the call. */
    public String permitName() {
        return permitName;
    }
}
