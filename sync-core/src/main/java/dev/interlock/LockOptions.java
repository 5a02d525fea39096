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

    private enum Form {
        PLAIN("a plain lock"),
        FAIR("a fair lock"),
        RETAINED("a lock with retention "),
        RELEASED_AT_ONCE("a lock that is released at once"),
        CONFIRMED("a lock whose unlock() is confirmed");

        private final String text;

        Form(String text) {
            this.text = text;
        }
    }

    static final LockOptions PLAIN = new LockOptions(Form.PLAIN, Duration.ZERO);
    static final LockOptions FAIR = new LockOptions(Form.FAIR, Duration.ZERO);
    private static final LockOptions AT_ONCE = new LockOptions(Form.RELEASED_AT_ONCE, Duration.ZERO);
    private static final LockOptions CONFIRMED = new LockOptions(Form.CONFIRMED, Duration.ZERO);

    private final Form form;
    private final Duration retention;

    private LockOptions(Form form, Duration retention) {
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
        return new LockOptions(Form.RETAINED, retention);
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
        return form == Form.FAIR;
    }

    boolean isAdaptive() {
        return form == Form.PLAIN;
    }

    boolean isConfirmed() {
        return form == Form.CONFIRMED;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LockOptions options && options.form == form && options.retention.equals(retention);
    }

    @Override
    public int hashCode() {
        return Objects.hash(form, retention);
    }

    @Override
    public String toString() {
        return form == Form.RETAINED ? form.text + retention : form.text;
    }
}
