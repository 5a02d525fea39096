package dev.interlock.internal.lock.quorum;

import dev.interlock.internal.session.QuorumSession;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a session for one name that it hasn't released yet. Only the thread that has the local half uses
 * them, but {@link #close} may run on any.
 */
final class OpenRequests {
    private final QuorumSession session;
    private final QuorumScripts scripts;

    /** The last sequence that the session has asked with, 0 if none is open. */
    private volatile long sequence;

    /** The longest lease that an open request has asked for. */
    private volatile long leaseMillis;

    /** The last release that was begun. */
    private @Nullable QuorumRelease latest;

    OpenRequests(QuorumSession session, QuorumScripts scripts) {
        this.session = session;
        this.scripts = scripts;
    }

    /** Begins a request for a lease. Returns its sequence. */
    long begin(long millis) {
        leaseMillis = Math.max(leaseMillis, millis);
        long next = session.nextSequence();
        sequence = next;
        return next;
    }

    /** Releases all of them. Returns null if there are none. */
    @Nullable
    QuorumRelease release() {
        long last = sequence;
        if (last == 0) {
            return null;
        }
        sequence = 0;
        // A node that is away for long has one release to be told of, not one for each tenure.
        long millis = latest == null ? leaseMillis : Math.max(leaseMillis, latest.leaseLeftMillis());
        QuorumRelease release = new QuorumRelease(session, scripts, last, millis).begin();
        if (latest != null) {
            latest.supersede();
        }
        latest = release;
        leaseMillis = 0;
        return release;
    }

    /** Releases all of them because the session is closed. Completes when all nodes have confirmed that. */
    CompletableFuture<?> close() {
        long last = sequence;
        return last == 0
                ? CompletableFuture.completedFuture(null)
                : new QuorumRelease(session, scripts, last, leaseMillis).begin().everywhere();
    }
}
