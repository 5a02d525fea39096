package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;

/** The interval in which a session owns a name, as far as it is the same for all locks. */
public interface Tenure {
    /** Returns whether it is certain that no other session owns the name then. */
    boolean isUsable(long nowNanos);

    /** Marks it lost, and tells the lock the first time. Returns the loss. */
    LeaseLostException lose(String reason);

    /**
     * Returns the token of the acquisition that is entered; 0 if there is none, or only Redis knows it. Other threads
     * than that which has the local half see it late.
     */
    default long token() {
        return 0;
    }
}
