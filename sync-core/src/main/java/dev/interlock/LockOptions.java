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

    static final LockOptions PLAIN = new LockOptions(false, true, Duration.ZERO);
    static final LockOptions FAIR = new LockOptions(true, false, Duration.ZERO);
    private static final LockOptions AT_ONCE = new LockOptions(false, false, Duration.ZERO);

    private final boolean fair;
    private final boolean adaptive;
    private final Duration retention;

    private LockOptions(boolean fair, boolean adaptive, Duration retention) {
        this.fair = fair;
        this.adaptive = adaptive;
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
        return new LockOptions(false, false, retention);
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

    /** Returns for how long the session keeps the name after its last use; 0 if that is for it to decide. */
    public Duration retention() {
        return retention;
    }

    boolean isFair() {
        return fair;
    }

    boolean isAdaptive() {
        return adaptive;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LockOptions options
                && options.fair == fair
                && options.adaptive == adaptive
                && options.retention.equals(retention);
    }

    @Override
    public int hashCode() {
        return Objects.hash(fair, adaptive, retention);
    }

    @Override
    public String toString() {
        if (fair) {
            return "a fair lock";
        } else if (adaptive) {
            return "a plain lock";
        }
        return retention.isZero() ? "a lock that is released at once" : "a lock with retention " + retention;
    }
}
