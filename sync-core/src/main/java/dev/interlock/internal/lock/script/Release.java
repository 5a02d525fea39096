package dev.interlock.internal.lock.script;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.RedisSession;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The release of a tenure or ticket, or its downgrade, repeated until Redis has confirmed it, or the lease is over
 * anyway.
 */
final class Release {
    private static final Logger log = LoggerFactory.getLogger(Release.class);
    private static final long RETRY_MILLIS = 200;

    /** What is repeated; it may take the way that costs least only the first time. */
    private interface Command {
        CompletableFuture<Released> send(boolean isFirst);
    }

    private final RedisSession session;
    private final String key;
    private final long sequence;
    private final Command command;
    private final long deadlineNanos;
    private final AtomicInteger attempts = new AtomicInteger();
    private final CompletableFuture<Released> confirmed = new CompletableFuture<>();

    private Release(RedisSession session, LockScripts scripts, Ticket ticket, Command command) {
        this.session = session;
        this.key = scripts.key();
        this.sequence = ticket.sequence;
        this.command = command;
        this.deadlineNanos = session.now() + TimeUnit.MILLISECONDS.toNanos(ticket.leaseMillis);
        session.expect(this, confirmed);
        send(true);
    }

    /**
     * Sends a release for the first time.
     *
     * @param ticket what has become a tenure, or has not
     * @param used the tickets that were served on that tenure beside its own
     * @param operations what that tenure has to do with its conditions
     * @param isLikelyAlone whether nobody is known to wait
     */
    static Release of(
            RedisSession session,
            LockScripts scripts,
            Ticket ticket,
            List<Ticket> used,
            Operations operations,
            long floor,
            boolean isLikelyAlone) {
        String usedText = LockScripts.text(used);
        return new Release(
                session,
                scripts,
                ticket,
                isFirst -> isFirst && isLikelyAlone
                        ? scripts.dropOrRelease(ticket, usedText, floor, operations)
                        : scripts.release(ticket, usedText, floor, operations));
    }

    /**
     * Sends a downgrade for the first time: the tenure goes on, for reading only.
     *
     * @param alone runs if nobody waits any more
     */
    static Release downgrade(
            RedisSession session,
            LockScripts scripts,
            Ticket ticket,
            Operations operations,
            long floor,
            Runnable alone) {
        return new Release(session, scripts, ticket, isFirst -> scripts.downgrade(ticket, floor, operations, alone));
    }

    /**
     * Gives back what a sequence has that nobody wants, as a message or an answer says. Does nothing if that is being
     * given up already: what a thread has entered ends by its own release, which alone knows what there is to do.
     *
     * @param waiter the waiter of a condition that has got it, or 0
     */
    static void giveBack(
            RedisSession session, LockScripts scripts, long sequence, long waiter, Operations operations, long floor) {
        if (session.isExpected(command -> command instanceof Release release
                && release.sequence == sequence
                && release.key.equals(scripts.key()))) {
            return;
        }
        Ticket unwanted = new Ticket(session.settings().leaseMillis(), true, true, 0, session.now());
        unwanted.sequence = sequence;
        unwanted.waiter = waiter;
        of(session, scripts, unwanted, List.of(), operations, floor, false).insist();
    }

    CompletableFuture<Released> confirmed() {
        return confirmed;
    }

    /**
     * Repeats it also if there is no answer at all. Whoever waits for the answer need not say so before he gives up.
     */
    Release insist() {
        followUnlessAnswered(1);
        return this;
    }

    /** Repeats the first attempt, which has been silent for as long as anybody waits. */
    void repeat() {
        session.execute(() -> follow(1));
    }

    private void send(boolean isFirst) {
        int attempt = attempts.incrementAndGet();
        command.send(isFirst).whenComplete((released, failure) -> {
            if (failure == null) {
                confirmed.complete(released);
            } else if (isWorthwhile()) {
                // Whatever it was may pass: somebody gets a right back, or a key its type.
                boolean isTransient = Failures.isTransient(failure);
                session.schedule(
                        () -> follow(attempt),
                        isTransient ? RETRY_MILLIS : session.settings().commandTimeoutMillis());
            } else if (confirmed.completeExceptionally(failure) && !session.isClosed()) {
                log.warn("A lock could not be released; its lease will end it: {}", Failures.brief(failure));
            }
        });
    }

    private void followUnlessAnswered(int attempt) {
        session.schedule(() -> follow(attempt), session.settings().commandTimeoutMillis());
    }

    // Every attempt has one successor, whether it failed or was silent: all of this runs on the timer's one thread.
    private void follow(int attempt) {
        if (!isWorthwhile()) {
            // Not cancel(): whoever waits for this has nothing to be told.
            confirmed.completeExceptionally(
                    new RedisUnavailableException("a lock was not released before its lease was over", null));
        } else if (attempts.get() == attempt && !confirmed.isDone()) {
            send(false);
            followUnlessAnswered(attempt + 1);
        }
    }

    private boolean isWorthwhile() {
        return session.now() - deadlineNanos < 0 && !session.isClosed();
    }
}
