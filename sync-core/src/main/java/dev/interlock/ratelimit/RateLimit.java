package dev.interlock.ratelimit;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/**
 * The permits available in a window of time, and the algorithm that counts them. Immutable.
 *
 * <p>By each algorithm, a caller that asks without end, or again after the {@link Decision#retryAfter} that it was
 * told, gets all permits of the limit (98 % at least of a sliding window), whether it is 1 or a million. Evenly spaced
 * requests below the limit are never refused.
 *
 * <table>
 *   <caption>Most permits that the algorithms admit, for a limit of n permits in a window w</caption>
 *   <tr><th>algorithm</th><th>in one of its windows</th><th>in any interval as long as w</th></tr>
 *   <tr><td>{@link #fixedWindow fixed window}</td><td>n</td><td>less than 2n</td></tr>
 *   <tr><td>{@link #slidingWindow sliding window}</td><td>n</td><td>n</td></tr>
 *   <tr><td>{@link #tokenBucket token bucket}</td><td>–</td><td>n + burst</td></tr>
 * </table>
 */
public final class RateLimit {
    /** The most permits, and the largest burst, that a limit can have. */
    public static final long MOST_PERMITS = 1_000_000_000;

    private static final Duration LEAST_WINDOW = Duration.ofMillis(1);
    private static final Duration MOST_WINDOW = Duration.ofDays(366);

    /** The algorithm that counts permits. */
    public enum Algorithm {
        /** See {@link RateLimit#fixedWindow}. */
        FIXED_WINDOW,

        /** See {@link RateLimit#slidingWindow}. */
        SLIDING_WINDOW,

        /** See {@link RateLimit#tokenBucket}. */
        TOKEN_BUCKET
    }

    /** What two limits have in common if they are equal. */
    private record Terms(Algorithm algorithm, long permits, Duration window, long burst) {}

    private final Terms terms;

    private RateLimit(Terms terms) {
        this.terms = terms;
    }

    /**
     * Permits in each window; a window begins with the first permit taken in it. The simplest algorithm, but a client
     * that takes all permits at the end of one window and all at the beginning of the next gets twice as many within a
     * moment.
     *
     * @param permits 1 to {@value #MOST_PERMITS}
     * @param window 1 ms to 366 days, in whole milliseconds
     * @return the limit
     * @throws IllegalArgumentException if one of them is out of its range
     */
    public static RateLimit fixedWindow(long permits, Duration window) {
        return checked(Algorithm.FIXED_WINDOW, permits, window);
    }

    /**
     * Permits in any interval as long as the window: each one that is taken counts until a window later.
     *
     * <p>Redis keeps a log of when permits were taken. Up to 64 {@code permits} the log is exact: a request is refused
     * only if the window before it has no room. Above, requests within a 64th of the window share an entry that has up
     * to a 64th of the permits, and count until a window after the last of them. There are never more than
     * {@code permits} in any interval either, and whenever a permit is refused, at least 63 of 64 have been taken in
     * the window before. So the log has 200 entries of 16 bytes at most.
     *
     * @param permits 1 to {@value #MOST_PERMITS}
     * @param window 1 ms to 366 days, in whole milliseconds
     * @return the limit
     * @throws IllegalArgumentException if one of them is out of its range
     */
    public static RateLimit slidingWindow(long permits, Duration window) {
        return checked(Algorithm.SLIDING_WINDOW, permits, window);
    }

    /**
     * A bucket of {@code permits} tokens, full at first and refilled evenly by {@code permits} in {@code window}.
     * {@link #withBurst} gives it another size. The algorithm is the generic cell rate algorithm in its form of a
     * continuous-state leaky bucket, see ITU-T Recommendation I.371, annex A.
     *
     * @param permits 1 to {@value #MOST_PERMITS}
     * @param window 1 ms to 366 days, in whole milliseconds
     * @return the limit
     * @throws IllegalArgumentException if one of them is out of its range
     */
    public static RateLimit tokenBucket(long permits, Duration window) {
        return checked(Algorithm.TOKEN_BUCKET, permits, window);
    }

    private static RateLimit checked(Algorithm algorithm, long permits, Duration window) {
        requireNonNull(window, "window");
        checkPermits("permits", permits);
        if (window.compareTo(LEAST_WINDOW) < 0
                || window.compareTo(MOST_WINDOW) > 0
                || window.toNanosPart() % 1_000_000 != 0) {
            throw new IllegalArgumentException(
                    "window must be from 1 ms to 366 days, in whole milliseconds, but is " + window);
        }
        return new RateLimit(new Terms(algorithm, permits, window, permits));
    }

    private static void checkPermits(String what, long permits) {
        if (permits < 1 || permits > MOST_PERMITS) {
            throw new IllegalArgumentException(what + " must be from 1 to " + MOST_PERMITS + ", but is " + permits);
        }
    }

    /**
     * Returns the same limit with another size of the bucket.
     *
     * @param burst how many permits a full bucket gives at once, 1 to {@value #MOST_PERMITS}
     * @return the limit
     * @throws IllegalArgumentException if {@code burst} is out of its range
     * @throws IllegalStateException if this isn't a token bucket
     */
    public RateLimit withBurst(long burst) {
        if (terms.algorithm != Algorithm.TOKEN_BUCKET) {
            throw new IllegalStateException("only a token bucket has a burst, not " + this);
        }
        checkPermits("burst", burst);
        return new RateLimit(new Terms(terms.algorithm, terms.permits, terms.window, burst));
    }

    /**
     * Returns the algorithm that counts permits.
     *
     * @return the algorithm
     */
    public Algorithm algorithm() {
        return terms.algorithm;
    }

    /**
     * Returns the number of permits in a window.
     *
     * @return the number, 1 or more
     */
    public long permits() {
        return terms.permits;
    }

    /**
     * Returns the window of time for these permits.
     *
     * @return the window, 1 ms or more
     */
    public Duration window() {
        return terms.window;
    }

    /**
     * Returns the most permits that one request can take: the size of a token bucket, otherwise the same as
     * {@link #permits}.
     *
     * @return the number, 1 or more
     */
    public long burst() {
        return terms.burst;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RateLimit that && terms.equals(that.terms);
    }

    @Override
    public int hashCode() {
        return terms.hashCode();
    }

    @Override
    public String toString() {
        String rate = terms.permits + " in " + terms.window;
        return switch (terms.algorithm) {
            case FIXED_WINDOW -> "a fixed window of " + rate;
            case SLIDING_WINDOW -> "a sliding window of " + rate;
            case TOKEN_BUCKET -> "a token bucket of " + terms.burst + ", filled by " + rate;
        };
    }
}
