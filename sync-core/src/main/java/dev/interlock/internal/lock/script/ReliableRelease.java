package dev.interlock.internal.lock.script;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.lock.script.LockScripts.Inquiry;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.Release;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.ReliableCommand;
import dev.interlock.internal.session.Session;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The release of a tenure or ticket, or its downgrade: a {@link ReliableCommand} for whose confirmation the session
 * waits when it is closed.
 */
final class ReliableRelease {
    private static final Logger log = LoggerFactory.getLogger(ReliableRelease.class);
    private static final RareLog UNRELEASED = new RareLog();

    private final RedisSession session;
    private final String key;
    private final long sequence;
    private final boolean hasOperations;
    private final CompletableFuture<Released> confirmed = new CompletableFuture<>();
    private final ReliableCommand<Released> command;

    private ReliableRelease(
            RedisSession session, LockScripts scripts, Release release, ReliableCommand.Attempt<Released> attempt) {
        Ticket ticket = release.ticket();
        this.session = session;
        this.key = scripts.key();
        this.sequence = ticket.sequence;
        this.hasOperations = !release.operations().isEmpty();
        // Before it is sent, or close() could miss it.
        session.expect(this, confirmed);
        // Any failure may pass: somebody gets a right back, or a key its type.
        this.command = ReliableCommand.send(session, ticket.leaseMillis, failure -> false, attempt);
        command.confirmed().whenComplete(this::complete);
    }

    /** Sends a release for the first time. */
    static ReliableRelease of(RedisSession session, LockScripts scripts, Release release, long floor) {
        return new ReliableRelease(session, scripts, release, isFirst -> scripts.release(release, floor, isFirst));
    }

    /** Sends a downgrade for the first time: the tenure goes on, for reading only. */
    static ReliableRelease downgrade(RedisSession session, LockScripts scripts, Release release, long floor) {
        return new ReliableRelease(
                session, scripts, release, isFirst -> scripts.downgrade(release.ticket(), floor, release.operations()));
    }

    /**
     * Gives back what a sequence has that nobody wants, as a message or an answer says. Does nothing if that is being
     * given up already: what a thread has entered ends by its own release, which alone knows what there is to do.
     *
     * @param waiter the waiter of a condition that has got it, or 0
     * @param isSignalLost whether that had been signalled, so that all others are
     */
    static void giveBack(
            RedisSession session, LockScripts scripts, long sequence, long waiter, boolean isSignalLost, long floor) {
        if (session.isExpected(command -> command instanceof ReliableRelease release
                && release.sequence == sequence
                && release.key.equals(scripts.key()))) {
            return;
        }
        Ticket unwanted = Ticket.of(sequence, session.settings().leaseMillis(), true, false, waiter);
        Operations operations = isSignalLost ? Operations.SIGNAL_ALL : Operations.NONE;
        of(session, scripts, Release.of(unwanted, operations), floor).insist();
    }

    /**
     * Takes a message about a name in which its session has no interest: gives back what that says the session has, and
     * answers a question.
     */
    static void receiveUnclaimed(RedisSession session, Mail mail) {
        LockScripts scripts = new LockScripts(session, mail.key());
        if (mail instanceof Mail.Grant grant) {
            giveBack(session, scripts, grant.sequence(), grant.waiter());
        } else if (mail instanceof Mail.Admission admission) {
            admission.waiters().forEach(one -> {
                if (one.ticket() != 0) {
                    giveBack(session, scripts, one.ticket(), one.waiter());
                } else if (one.waiter() > 0) {
                    scripts.await(Inquiry.SIGNAL_LOST, 0);
                }
            });
        } else if (mail instanceof Mail.Demand demand && demand.sequence() >= Session.SEQUENCE_STEP) {
            // That of a semaphore has a smaller number.
            giveBack(session, scripts, demand.sequence(), 0);
        } else if (mail instanceof Mail.IdleQuestion question) {
            giveBack(session, scripts, question.sequence(), 0);
            answerOnceConfirmed(session, scripts, question);
        }
    }

    private static void giveBack(RedisSession session, LockScripts scripts, long sequence, long waiter) {
        giveBack(session, scripts, sequence, waiter, waiter > 0, 0);
    }

    /** Tells who asks that nobody is inside, as soon as all that the session gives up of the name is confirmed. */
    static void answerOnceConfirmed(RedisSession session, LockScripts scripts, Mail.IdleQuestion question) {
        session.confirmations(
                        command -> command instanceof ReliableRelease release && release.key.equals(scripts.key()))
                .whenComplete((released, failure) -> scripts.answer(question, false));
    }

    /** Returns whether it has something to do with conditions, which the session's next request mustn't overtake. */
    boolean hasOperations() {
        return hasOperations;
    }

    /** Completes when Redis has confirmed it; fails when it is given up. */
    CompletableFuture<Released> confirmed() {
        return confirmed;
    }

    /** Repeats it also if there is no answer at all. */
    @CanIgnoreReturnValue
    ReliableRelease insist() {
        command.insist();
        return this;
    }

    /** Repeats the first attempt, which has been silent for as long as anybody waits. */
    void repeat() {
        command.repeat();
    }

    private void complete(@Nullable Released released, @Nullable Throwable failure) {
        if (failure == null) {
            confirmed.complete(released);
            return;
        }
        Throwable cause = Failures.cause(failure);
        // An outage is logged by itself, for all names together.
        if (!(cause instanceof RedisUnavailableException) && !session.isClosed()) {
            String why = Failures.brief(cause);
            UNRELEASED.say(
                    why,
                    often -> log.warn(
                            "Lock {} could not be released; its lease will end it: {}{}",
                            Names.quoted(key),
                            why,
                            often));
        }
        confirmed.completeExceptionally(cause);
    }
}
