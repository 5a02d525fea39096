package dev.interlock;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.Objects;

/**
 * Options of a lock.
 *
 * @see Interlock#lock(String, LockOptions)
 */
public final class LockOptions {
    private static final Duration LEAST = Duration.ofMillis(1);
    private static final Duration MOST = Duration.ofDays(1);

    private static final String IS_PLAIN = "a plain lock";
    private static final String IS_FAIR = "a fair lock";
    private static final String IS_RETAINED = "a lock with retention ";
    private static final String IS_RELEASED = "a lock that is released at once";
    private static final String IS_CONFIRMED = "a lock whose unlock() is confirmed";

    static final LockOptions PLAIN = new LockOptions(IS_PLAIN, Duration.ZERO);
    static final LockOptions FAIR = new LockOptions(IS_FAIR, Duration.ZERO);
    private static final LockOptions AT_ONCE = new LockOptions(IS_RELEASED, Duration.ZERO);
    private static final LockOptions CONFIRMED = new LockOptions(IS_CONFIRMED, Duration.ZERO);

    private final String form;
    private final Duration retention;

    private LockOptions(String form, Duration retention) {
        this.form = form;
        this.retention = retention;
    }

    /**
     * The session keeps the name until {@code retention} after its last use, so that its next thread needs no round
     * trip, and renews the lease meanwhile. That doesn't delay others: the session gives the name up at once when
     * another session asks for it (also by an untimed {@code tryLock()}), within about a second when a plain
     * {@code RLock} client waits for it, and when it closes. If the JVM dies, the name is free at the end of the lease.
     *
     * @param retention 1 ms to 1 day
     * @return the options
     * @throws IllegalArgumentException if {@code retention} is out of its range
     */
    public static LockOptions retain(Duration retention) {
        requireNonNull(retention, "retention");
        if (retention.compareTo(LEAST) < 0 || retention.compareTo(MOST) > 0) {
            throw new IllegalArgumentException("retention must be from 1 ms to 1 day, but is " + retention);
        }
        return new LockOptions(IS_RETAINED, retention);
    }

    /**
     * The session gives the name up by every {@code unlock()} that no other of its threads waits for, even if its
     * threads take it again and again.
     *
     * @return the options
     * @see InterlockBuilder#adaptiveRetention
     */
    public static LockOptions releaseAtOnce() {
        return AT_ONCE;
    }

    /**
     * The session gives the name up by every {@code unlock()} that no other of its threads waits for, and such an
     * {@code unlock()} waits until Redis has confirmed that, one command time-out at most. It throws
     * {@link LeaseLostException} if Redis had lost the name, which the session otherwise tells its listener.
     *
     * @return the options
     * @see InterlockBuilder#confirmedUnlock
     */
    public static LockOptions confirmUnlock() {
        return CONFIRMED;
    }

    /** Returns for how long the session keeps the name after its last use; 0 if that is for it to decide. */
    public Duration retention() {
        return retention;
    }

    boolean isFair() {
        return form.equals(IS_FAIR);
    }

    boolean isAdaptive() {
        return form.equals(IS_PLAIN);
    }

    boolean isConfirmed() {
        return form.equals(IS_CONFIRMED);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LockOptions options && options.form.equals(form) && options.retention.equals(retention);
    }

    @Override
    public int hashCode() {
        return Objects.hash(form, retention);
    }

    @Override
    public String toString() {
        return form.equals(IS_RETAINED) ? form + retention : form;
    }
}
