package dev.interlock.internal.lock.script;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.internal.lock.script.LockScripts.Inquiry;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.Release;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.ReliableCommand;
import dev.interlock.internal.session.Resource;
import dev.interlock.internal.session.Session;
import java.util.concurrent.CompletableFuture;

/**
 * The release of a tenure or ticket, or its downgrade: a {@link ReliableCommand} for whose confirmation the session
 * waits when it is closed.
 */
final class ReliableRelease {
    private final String key;
    private final long sequence;
    private final boolean hasOperations;
    private final ReliableCommand<Released> command;

    private ReliableRelease(String key, Release release, ReliableCommand<Released> command) {
        this.key = key;
        this.sequence = release.ticket().sequence;
        this.hasOperations = !release.operations().isEmpty();
        this.command = command;
    }

    /** Sends a release for the first time. */
    static ReliableRelease of(
            RedisSession session, Resource<?> resource, LockScripts scripts, Release release, long floor) {
        return sent(session, resource, scripts, release, isFirst -> scripts.release(release, floor, isFirst));
    }

    /** Sends a downgrade for the first time: the tenure goes on, for reading only. */
    static ReliableRelease downgrade(
            RedisSession session, Resource<?> resource, LockScripts scripts, Release release, long floor) {
        ReliableCommand.Attempt<Released> attempt =
                isFirst -> scripts.downgrade(release.ticket(), floor, release.operations());
        return sent(session, resource, scripts, release, attempt);
    }

    private static ReliableRelease sent(
            RedisSession session,
            Resource<?> resource,
            LockScripts scripts,
            Release release,
            ReliableCommand.Attempt<Released> attempt) {
        // It is sent at the end of the event: earlier, close() could miss it.
        return resource.call((state, now) -> {
            // Any failure may pass: somebody gets a right back, or a key its type.
            ReliableCommand<Released> command =
                    ReliableCommand.send(session, resource, release.ticket().leaseMillis, failure -> false, attempt);
            ReliableRelease sent = new ReliableRelease(scripts.key(), release, command);
            session.expect(sent, command.confirmed());
            return sent;
        });
    }

    /**
     * Gives back what a sequence has that nobody wants, as a message or an answer says. Does nothing if that is being
     * given up already: what a thread has entered ends by its own release, which alone knows what there is to do.
     *
     * @param waiter the waiter of a condition that has got it, or 0
     * @param isSignalLost whether that had been signalled, so that all others are
     */
    static void giveBack(
            RedisSession session,
            Resource<?> resource,
            LockScripts scripts,
            long sequence,
            long waiter,
            boolean isSignalLost,
            long floor) {
        if (session.isExpected(command -> command instanceof ReliableRelease release
                && release.sequence == sequence
                && release.key.equals(scripts.key()))) {
            return;
        }
        Ticket unwanted = Ticket.of(sequence, session.settings().leaseMillis(), true, false, waiter);
        Operations operations = isSignalLost ? Operations.SIGNAL_ALL : Operations.NONE;
        of(session, resource, scripts, Release.of(unwanted, operations), floor).insist();
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
        Resource<?> resource = Resource.ofCommands(session, scripts.key());
        giveBack(session, resource, scripts, sequence, waiter, waiter > 0, 0);
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
        return command.confirmed();
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
}
