package dev.interlock;

import dev.interlock.internal.Names;
import java.io.Serial;

/**
 * Thrown to the holder of a lock, or of permits of a semaphore, that was lost in the meantime: its lease expired while
 * the JVM was paused, Redis lost its data, an operator deleted its key, its session was closed. Another JVM may hold
 * the lock, and may have held it for a while: check everything that the critical section wrote without a fencing token.
 *
 * <p>It is an {@link IllegalMonitorStateException} because that is what
 * {@link java.util.concurrent.locks.ReentrantLock} throws when a thread unlocks what it does not own.
 */
public final class LeaseLostException extends IllegalMonitorStateException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String lockName;
    private final long fencingToken;
    private final long permits;

    /**
     * Creates the report of a loss.
     *
     * @param lockName the name of the lock
     * @param fencingToken the token of the acquisition that was lost, 0 if it had none
     * @param reason what this session observed, for people
     */
    public LeaseLostException(String lockName, long fencingToken, String reason) {
        this(
                "Lock " + Names.quoted(lockName) + " was lost: " + reason
                        + "; check what was written without its fencing token",
                lockName,
                fencingToken,
                0);
    }

    private LeaseLostException(String message, String lockName, long fencingToken, long permits) {
        super(message);
        this.lockName = lockName;
        this.fencingToken = fencingToken;
        this.permits = permits;
    }

    /**
     * Creates the report that permits of a semaphore were lost.
     *
     * @param semaphoreName the name of the semaphore
     * @param permits how many permits threads of this JVM lost
     * @param reason what this session observed, for people
     * @return the report, whose {@link #lockName} is that of the semaphore
     */
    public static LeaseLostException ofPermits(String semaphoreName, long permits, String reason) {
        String what = permits == 1 ? "1 permit" : permits + " permits";
        return new LeaseLostException(
                what + " of semaphore " + Names.quoted(semaphoreName) + " lost: " + reason, semaphoreName, 0, permits);
    }

    /**
     * Creates the report of a loss that is already known, with the stack trace of the calling thread.
     *
     * @param known the loss, which becomes the cause
     */
    public LeaseLostException(LeaseLostException known) {
        super(known.getMessage());
        this.lockName = known.lockName;
        this.fencingToken = known.fencingToken;
        this.permits = known.permits;
        initCause(known);
    }

    /** Returns the name of the lock or semaphore that was lost. */
    public String lockName() {
        return lockName;
    }

    /** Returns the fencing token of the acquisition that was lost, 0 if it had none. */
    public long fencingToken() {
        return fencingToken;
    }

    /** Returns how many permits of a semaphore were lost, 0 if it was a lock. */
    public long permits() {
        return permits;
    }
}
