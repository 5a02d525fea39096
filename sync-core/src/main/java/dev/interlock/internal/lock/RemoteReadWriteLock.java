package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of a read-write lock. Its exclusive side is that of any lock. All threads of a session that read do
 * so on one tenure, which one of them gets for all, while no other thread is inside.
 */
public interface RemoteReadWriteLock extends RemoteLock {
    /**
     * Returns whether a thread that has begun to wait then may enter for reading on the tenure that the session has.
     */
    boolean mayEnterShared(long begunNanos);

    /** Returns whether readers are inside on that tenure that the thread may not join, so that it can only wait. */
    boolean isBarred(long begunNanos);

    /**
     * Returns whether a thread that only shares the local half may ask for a tenure: the session has none, so that
     * nobody is inside.
     */
    boolean mayAskSharing();

    /**
     * Waits until that is so, or for a moment. {@link #wakeReaders} has it looked at again.
     *
     * @param waitNanos {@link Long#MAX_VALUE} to wait for ever
     */
    void await(BooleanSupplier isSo, boolean interruptible, long waitNanos, long begunNanos)
            throws InterruptedException;

    /** What readers {@linkplain #await await} may have come true. */
    default void wakeReaders() {}

    /** Returns for how long the leader waits for those inside to leave; 0 if it doesn't. */
    long drainNanos();

    /** Enters for reading on that tenure, if it is usable. The caller shares the local half. */
    boolean enterSharedAtOnce(long begunNanos);

    /**
     * Gets the session a tenure to read on, and enters. The caller has the local half, or {@linkplain #mayAskSharing
     * may ask} with a share of it.
     *
     * @param waitNanos 0 to ask only once, {@link Long#MAX_VALUE} to wait for ever
     * @param begunNanos when the thread began to wait
     */
    boolean enterShared(boolean interruptible, long waitNanos, long begunNanos) throws InterruptedException;

    /** Leaves. The local half is unshared next. Returns the loss if the tenure is lost. */
    @Nullable
    LeaseLostException leaveShared();

    /**
     * Gives up the tenure if nobody is inside any more, unless it is kept for a moment. Called when the local half is
     * unshared.
     */
    void leftShared();

    /** Pauses the current thread before it looks again at what another thread of this session does. */
    void pause(Object blocker, long nanos);

    /** Returns for how long an answer is waited for. */
    long commandTimeoutNanos();

    /** Returns whether Redis has said that others have the lock, for which a thread of this session waits. */
    boolean isRefused();
}
