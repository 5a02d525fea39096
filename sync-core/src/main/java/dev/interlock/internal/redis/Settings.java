package dev.interlock.internal.redis;

import dev.interlock.SyncListener;
import dev.interlock.internal.Suspensions;
import dev.interlock.internal.events.Listeners;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** What a session was configured with; checked by the builder. */
public record Settings(
        long leaseMillis,
        long handoffSliceNanos,
        boolean adaptiveRetention,
        boolean confirmedUnlock,
        boolean waitsForLostHolders,
        long redisTimeoutNanos,
        long commandTimeoutMillis,
        int replicaAcknowledgements,
        String namespace,
        String sessionName,
        Listeners listeners,
        LongSupplier ticker,
        Suspensions suspensions) {
    /** From a renewal that failed, the next one is so far at most. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A wall clock may run ahead by so much, or by the margin of the session's lease if that is less. */
    private static final long MOST_AHEAD_MILLIS = 50;

    /** Settings whose ticker never stands still. */
    public Settings(
            long leaseMillis,
            long handoffSliceNanos,
            boolean adaptiveRetention,
            boolean confirmedUnlock,
            boolean waitsForLostHolders,
            long redisTimeoutNanos,
            long commandTimeoutMillis,
            int replicaAcknowledgements,
            String namespace,
            String sessionName,
            Listeners listeners,
            LongSupplier ticker) {
        this(
                leaseMillis,
                handoffSliceNanos,
                adaptiveRetention,
                confirmedUnlock,
                waitsForLostHolders,
                redisTimeoutNanos,
                commandTimeoutMillis,
                replicaAcknowledgements,
                namespace,
                sessionName,
                listeners,
                ticker,
                suspensions(ticker, wallClockOf(ticker), leaseMillis));
    }

    /** Returns what notices that a ticker has stood still. */
    public static Suspensions suspensions(LongSupplier ticker, InstantSource wallClock, long leaseMillis) {
        long tolerated = Math.min(MOST_AHEAD_MILLIS, marginMillis(leaseMillis));
        return new Suspensions(ticker, wallClock, TimeUnit.MILLISECONDS.toNanos(tolerated));
    }

    /** Returns a wall clock that goes as a ticker does. */
    public static InstantSource wallClockOf(LongSupplier ticker) {
        return () -> Instant.ofEpochSecond(0, ticker.getAsLong());
    }

    /** Returns the listeners that there are now, as one that throws nothing. */
    public SyncListener listener() {
        return listeners.current();
    }

    /** For how long a command may be silent before it is taken to have been lost. */
    public long silenceNanos() {
        return Math.min(TimeUnit.MILLISECONDS.toNanos(commandTimeoutMillis), redisTimeoutNanos);
    }

    /** Returns the time between two renewals of a lease. */
    public long renewalNanos() {
        return TimeUnit.MILLISECONDS.toNanos(leaseMillis) / 3;
    }

    /** Returns the time from a renewal that failed to the next one. */
    public long retryNanos() {
        return Math.min(RETRY_NANOS, renewalNanos() / 3);
    }

    /** The same, heard of by nobody. */
    public Settings unheard() {
        return new Settings(
                leaseMillis,
                handoffSliceNanos,
                adaptiveRetention,
                confirmedUnlock,
                waitsForLostHolders,
                redisTimeoutNanos,
                commandTimeoutMillis,
                replicaAcknowledgements,
                namespace,
                sessionName,
                new Listeners(),
                ticker,
                suspensions);
    }

    /** What local validity stays below the lease in Redis, for clocks that don't run at the same speed. */
    public static long marginMillis(long leaseMillis) {
        return Math.min(500, leaseMillis / 20);
    }
}
