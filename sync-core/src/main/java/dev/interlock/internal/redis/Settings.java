package dev.interlock.internal.redis;

import dev.interlock.SyncListener;
import dev.interlock.internal.events.Listeners;
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
        LongSupplier ticker) {
    /** From a renewal that failed, the next one is so far at most. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

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
                ticker);
    }

    /** What local validity stays below the lease in Redis, for clocks that don't run at the same speed. */
    public static long marginMillis(long leaseMillis) {
        return Math.min(500, leaseMillis / 20);
    }
}
