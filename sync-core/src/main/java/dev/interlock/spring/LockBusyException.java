package dev.interlock.spring;

import dev.interlock.internal.Names;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** Thrown instead of running a {@link Locked} method, because the lock wasn't available in time. */
public final class LockBusyException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String lockName;

    LockBusyException(String lockName, String why, @Nullable Throwable cause) {
        super("lock " + Names.quoted(lockName) + " " + why, cause);
        this.lockName = lockName;
    }

    /** Returns the name of the lock. */
    public String lockName() {
        return lockName;
    }
}
