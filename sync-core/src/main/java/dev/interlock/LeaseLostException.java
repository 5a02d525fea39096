package dev.interlock;

import java.io.Serial;

/**
 * Thrown to the holder of a lock that has meanwhile been lost: its lease ran out while the JVM was paused, Redis forgot
 * it, an operator deleted it, its session was closed. Another JVM may hold the lock, and may have done so for a while:
 * whatever the critical section wrote without a fencing token has to be checked.
 *
 * <p>It is an {@link IllegalMonitorStateException} because that is what {@link java.util.concurrent.locks.ReentrantLock}
 * throws when a thread unlocks what it does not own.
 */
public final class LeaseLostException extends IllegalMonitorStateException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String lockName;
    private final long fencingToken;

    /**
     * Creates the report of a loss.
     *
     * @param lockName the name of the lock
     * @param fencingToken the token of the acquisition that was lost, 0 if it had none
     * @param reason what was seen, for people
     */
    public LeaseLostException(String lockName, long fencingToken, String reason) {
        super("Lock '" + lockName + "' was lost: " + reason);
        this.lockName = lockName;
        this.fencingToken = fencingToken;
    }

    /**
     * Creates the report of a loss that is already known, with the stack trace of whoever runs into it.
     *
     * @param known the loss, which becomes the cause
     */
    public LeaseLostException(LeaseLostException known) {
        super(known.getMessage());
        this.lockName = known.lockName;
        this.fencingToken = known.fencingToken;
        initCause(known);
    }

    /** Returns the name of the lock that was lost. */
    public String lockName() {
        return lockName;
    }

    /** Returns the fencing token of the acquisition that was lost, 0 if it had none. */
    public long fencingToken() {
        return fencingToken;
    }
}
