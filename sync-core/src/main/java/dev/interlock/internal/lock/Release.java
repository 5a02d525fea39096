package dev.interlock.internal.lock;

import dev.interlock.internal.ScriptRunner;
import dev.interlock.internal.Session;
import dev.interlock.internal.lock.LockScripts.Operations;
import dev.interlock.internal.lock.LockScripts.Released;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The release of a tenure or ticket, repeated until Redis has confirmed it, or the lease is over anyway. */
final class Release {
    private static final Logger log = LoggerFactory.getLogger(Release.class);
    private static final long RETRY_MILLIS = 200;

    private final Session session;
    private final LockScripts scripts;
    private final Ticket ticket;
    private final String used;
    private final Operations operations;
    private final long floor;
    private final long deadlineNanos;
    private final AtomicInteger attempts = new AtomicInteger();
    private final CompletableFuture<Released> confirmed = new CompletableFuture<>();

    /**
     * Sends the release for the first time.
     *
     * @param ticket what has become a tenure, or has not
     * @param used the tickets that were served on that tenure beside its own
     * @param operations what that tenure has to do with its conditions
     * @param isLikelyAlone whether nobody is known to wait
     */
    Release(
            Session session,
            LockScripts scripts,
            Ticket ticket,
            List<Ticket> used,
            Operations operations,
            long floor,
            boolean isLikelyAlone) {
        this.session = session;
        this.scripts = scripts;
        this.ticket = ticket;
        this.used = LockScripts.text(used);
        this.operations = operations;
        this.floor = floor;
        this.deadlineNanos = session.now() + TimeUnit.MILLISECONDS.toNanos(ticket.leaseMillis);
        send(isLikelyAlone);
    }

    CompletableFuture<Released> confirmed() {
        return confirmed;
    }

    /** Repeats it also if there is no answer at all. Whoever waits for the answer need not say so before he gives up. */
    Release insist() {
        followUnlessAnswered(1);
        return this;
    }

    /** Repeats the first attempt, which has been silent for as long as anybody waits. */
    void repeat() {
        session.execute(() -> follow(1));
    }

    private void send(boolean isLikelyAlone) {
        int attempt = attempts.incrementAndGet();
        CompletableFuture<Released> reply = isLikelyAlone
                ? scripts.dropOrRelease(ticket, used, floor, operations)
                : scripts.release(ticket, used, floor, operations);
        reply.whenComplete((released, failure) -> {
            if (failure == null) {
                confirmed.complete(released);
            } else if (ScriptRunner.isTransient(failure) && isWorthwhile()) {
                session.schedule(() -> follow(attempt), RETRY_MILLIS);
            } else if (confirmed.completeExceptionally(failure) && !session.isClosed()) {
                log.warn("A lock could not be released; its lease will end it: {}", ScriptRunner.brief(failure));
            }
        });
    }

    private void followUnlessAnswered(int attempt) {
        session.schedule(() -> follow(attempt), session.settings().commandTimeoutMillis());
    }

    // Every attempt has one successor, whether it failed or was silent: all of this runs on the timer's one thread.
    private void follow(int attempt) {
        if (attempts.get() == attempt && !confirmed.isDone() && isWorthwhile()) {
            send(false);
            followUnlessAnswered(attempt + 1);
        }
    }

    private boolean isWorthwhile() {
        return session.now() - deadlineNanos < 0 && !session.isClosed();
    }
}
