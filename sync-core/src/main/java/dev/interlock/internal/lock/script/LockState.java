package dev.interlock.internal.lock.script;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.Names;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockEffect.GiveUp;
import dev.interlock.internal.lock.script.LockEffect.LookAt;
import dev.interlock.internal.lock.script.LockEffect.Lost;
import dev.interlock.internal.lock.script.LockEffect.Plain;
import dev.interlock.internal.lock.script.LockEffect.Renew;
import dev.interlock.internal.lock.script.LockEffect.Unanswered;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.lock.script.LockScripts.Renewal;
import dev.interlock.internal.lock.script.LockScripts.Request;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.Signals;
import dev.interlock.internal.lock.script.LockScripts.Status;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Effects;
import dev.interlock.internal.session.Pace;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows of one name: its {@link TicketQueue}, its {@link LockTenure} while it owns the name, what it has
 * given up, and its {@link ConditionQueue}. A plain lock has tickets or a tenure, never both; tickets of a fair lock
 * that are served on its tenure remain until they are.
 *
 * <p>Events come in, each with the instant at which it happens: threads, replies, messages. They change the state and
 * have {@linkplain LockEffect effects}. After each of them the owner has the state {@link #settle}, and carries these
 * out. The state knows no session, command or clock, and asks its owner nothing; that calls it with its mutex held.
 * What is read without that is in the {@link LockView}.
 */
final class LockState {
    /** What became of a thread's step towards a tenure. */
    enum Advance {
        ENTERED,
        REFUSED,
        WAITING
    }

    /** Why a tenure is lost of which Redis says that another one is there, or none. */
    static final String OWNER_CHANGED = "its owner in Redis had changed";

    private final LockView view;
    final TicketQueue tickets;
    final Ownership ownership;
    final Effects<LockEffect> effects = new Effects<>();
    private final String name;
    private final Settings settings;

    /** The untimed {@code tryLock()} that is under way. */
    private @Nullable IdleQuestion question;

    /**
     * A failure that no repetition will mend: kept until a thread has been told, or the ticket that it concerns ends.
     */
    private @Nullable Throwable refusal;

    LockState(String name, LockView view, Settings settings, Pace pace, long now) {
        this.name = name;
        this.view = view;
        this.settings = settings;
        this.tickets = new TicketQueue(view, pace, effects, now);
        this.ownership = new Ownership(view, tickets, settings, pace, effects);
    }

    ConditionQueue conditions() {
        return ownership.conditions();
    }

    // ---- threads that want the name

    /** A thread is about to queue for the local half, to write: readers are to leave the tenure. */
    void announceWriter(long now) {
        LockTenure current = view.tenure;
        if (current != null && current.shared && view.ticket == null) {
            ownership.open(ownership.newTicket(RemoteLock.RENEWED, true, false, now), now);
        }
    }

    /** It has left, and none has come so far that it waits for the lock. */
    void departWriter(long now) {
        Ticket ticket = view.ticket;
        if (view.tenure != null && ticket != null) {
            ownership.withdraw(ticket, now);
        }
    }

    /** A thread enters on a tenure of a fair lock that has come to it, if it has. */
    boolean enterAtOnce(@Nullable LockTenure current, Thread thread, long now) {
        boolean mayEnter = current != null
                && view.tenure == current
                && current.renewed
                && view.serves(current)
                && tickets.of(thread) != null
                && current.take(now);
        if (current != null && mayEnter) {
            tickets.serve(thread, current);
        }
        return mayEnter;
    }

    /**
     * Returns whether the next thread in line is likely to be served on that tenure within a round trip: no other
     * session is known to wait, and an answer is on its way that tells how far the run goes by now.
     */
    boolean isAboutToServe(LockTenure current, long now) {
        return !current.demand && current.isUsable(now) && view.ticket != null && tickets.isAnswerDue(now);
    }

    /**
     * A thread that has the local half takes its next step towards a usable tenure.
     *
     * @param asks whether this is its first step, and it wants an answer
     */
    Advance advance(Attempt attempt, boolean asks, long now) {
        if (view.fair && !attempt.once()) {
            ownership.announce(attempt.thread(), attempt.leaseMillis(), now);
        }
        LockTenure current = view.tenure;
        Advance step = current == null ? null : advanceOn(current, attempt, now);
        Advance taken = step == null ? advanceWithout(attempt, asks, now) : step;
        if (taken != Advance.WAITING) {
            question = null;
        }
        return taken;
    }

    // Returns null if the tenure is given up now.
    private @Nullable Advance advanceOn(LockTenure current, Attempt attempt, long now) {
        if (current.isInDoubt(now)) {
            // Its renewal wakes the thread.
            current.renewNow(now, effects);
            return Advance.WAITING;
        }
        Ticket ticket = ticketFor(attempt);
        if (current.shared && !attempt.reads()) {
            if (!current.downgrading.isEmpty()) {
                // What that has to do must not be overtaken by the end of the tenure; its release does it if need be.
                release(current, now);
                return null;
            }
            if (ticket != null && ticket.queues) {
                // Announced while others were reading, which have left.
                ownership.endTurn(current, now);
                ticket.from = current.sequence;
                tickets.ask(now);
                return Advance.WAITING;
            }
        }
        if (attempt.once() || view.serves(current)) {
            return enterOrContinue(current, attempt, now);
        }
        if (isAboutToServe(current, now)) {
            return Advance.WAITING;
        }
        // The threads of its run have left.
        release(current, now);
        return null;
    }

    private void release(LockTenure current, long now) {
        effects.add(new GiveUp(ownership.giveUp(current, now)));
        tickets.askForUnsent(true, now);
    }

    private @Nullable Ticket ticketFor(Attempt attempt) {
        return view.fair && !attempt.once() ? tickets.of(attempt.thread()) : view.ticket;
    }

    /**
     * What a tenure can't do any more (its lease isn't the one that is wanted, its validity ran out between two
     * threads, its fencing tokens are used up) a new sequence that continues it can; unless the turn is over. Returns
     * null if the tenure is given up now.
     */
    private @Nullable Advance enterOrContinue(LockTenure current, Attempt attempt, long now) {
        boolean isRenewed = attempt.leaseMillis() == RemoteLock.RENEWED;
        boolean enters = current.fits(isRenewed, isRenewed ? settings.leaseMillis() : attempt.leaseMillis())
                && (attempt.reads() ? current.isUsable(now) : current.take(now));
        boolean hasPlace = view.fair && !attempt.once();
        if (!enters && !view.fair && view.keep.isTurnOver(current, now)) {
            release(current, now);
            return null;
        }
        if (hasPlace) {
            tickets.serve(attempt.thread(), current);
        }
        if (enters) {
            return Advance.ENTERED;
        }
        ownership.end(current);
        Ticket next = ownership.newTicket(attempt.leaseMillis(), !attempt.once(), attempt.reads(), now);
        next.from = current.sequence;
        next.thread = hasPlace ? attempt.thread() : null;
        if (attempt.once()) {
            questionOf(attempt).sent(next);
        }
        ownership.open(next, now);
        return Advance.WAITING;
    }

    private Advance advanceWithout(Attempt attempt, boolean asks, long now) {
        Ticket ticket = ticketFor(attempt);
        if (ticket != null && ticket.reads != attempt.reads() && ticket.from == 0) {
            // It was another thread's, which has left.
            ownership.withdraw(ticket, now);
            ticket = null;
        }
        if (ticket == null && attempt.once()) {
            return advanceOnce(attempt, now);
        } else if (ticket == null) {
            ownership.open(ownership.newTicket(attempt.leaseMillis(), true, attempt.reads(), now), now);
        } else if (refusal != null) {
            throw refused(ticket, refusal, now);
        } else if (attempt.once() && ticket.queues && (view.fair || view.hasHeardSince(attempt.begunNanos()))) {
            return Advance.REFUSED;
        } else if ((asks && tickets.mayAskFor(ticket, now)) || tickets.isDue(now)) {
            tickets.ask(now);
        }
        return Advance.WAITING;
    }

    private Advance advanceOnce(Attempt attempt, long now) {
        IdleQuestion known = question != null && question.isOf(attempt) ? question : null;
        if (known != null && known.isRefused(now)) {
            if (known.isSilent()) {
                effects.add(new Unanswered(now - attempt.begunNanos()));
            }
            return Advance.REFUSED;
        } else if (known != null && known.untilDue(now) > 0) {
            return Advance.WAITING;
        }
        Ticket request = ownership.newTicket(attempt.leaseMillis(), false, attempt.reads(), now);
        questionOf(attempt).sent(request);
        ownership.open(request, now);
        return Advance.WAITING;
    }

    private IdleQuestion questionOf(Attempt attempt) {
        if (question == null || !question.isOf(attempt)) {
            question = new IdleQuestion(attempt, attempt.begunNanos(), settings.commandTimeoutMillis());
        }
        return question;
    }

    /** An owner has answered whether a thread is inside. */
    void answered(Mail.IdleAnswer answer) {
        if (question != null) {
            question.answered(answer.request(), answer.isInside());
        }
        effects.add(Plain.WAKE);
    }

    /** Returns for how long a thread that waits may sleep before it has to take another step by itself. */
    long untilDue(long now) {
        LockTenure current = view.tenure;
        if (current != null && current.isInDoubt(now)) {
            return TicketQueue.POLL_NANOS;
        }
        long untilDue = question == null ? 1 : Math.max(1, question.untilDue(now));
        return view.ticket == null ? untilDue : tickets.untilDue(now);
    }

    private IllegalStateException refused(Ticket ticket, Throwable cause, long now) {
        refusal = null;
        tickets.remove(ticket);
        tickets.askAtOnce(now);
        ownership.releaseContinued(ticket, now);
        return Failures.refusal("lock " + Names.quoted(name), cause);
    }

    // ---- the tenure

    /** Marks a tenure lost, and tells the lock the first time. Returns the loss. */
    LeaseLostException lose(LockTenure current, String reason, long now) {
        return lose(current, reason, null, now);
    }

    /**
     * As {@link #lose}.
     *
     * @param isRelied whether threads rely on the tenure; null if the lock knows
     */
    LeaseLostException lose(LockTenure current, String reason, @Nullable Boolean isRelied, long now) {
        LeaseLostException known = current.loss();
        if (known != null) {
            return known;
        }
        LeaseLostException loss = current.lose(name, reason, now);
        effects.add(new Lost(loss, isRelied));
        return loss;
    }

    /** A renewal of a tenure has been answered, or has failed. */
    void renewed(Renew sent, @Nullable Renewal renewal, @Nullable Throwable failure, long now) {
        LockTenure current = view.tenure;
        if (current == null || current.sequence != sent.sequence()) {
            // That one is over.
            return;
        }
        if (!current.renewed(sent.sentNanos(), renewal, failure, now, effects)) {
            lose(current, "Redis doesn't know this owner any more", now);
        }
        ownership.lookAtKept(current);
    }

    /** A thread leaves a name that is to be kept. */
    void retain(LockTenure current) {
        current.retained = true;
        ownership.lookAtKept(current);
    }

    /** Others wait for a tenure on which threads read: when its turn is over, it is shared. */
    void endTurnInTime(LockTenure current, long now) {
        current.endsInTime = true;
        effects.add(new LookAt(now + view.keep.turnLeftNanos(current, now)));
    }

    /** It is the time of a {@link LookAt}, or later. */
    void due(long now) {
        LockTenure current = view.tenure;
        if (current == null || current.loss() != null) {
            return;
        }
        if (current.isOver(now)) {
            lose(current, "its lease is over", now);
            return;
        }
        current.lookAtEnd(now, effects);
        if (current.retained && !view.keep.isKept(current, now)) {
            // A thread that is inside decides anew when it leaves.
            current.retained = false;
            effects.add(Plain.CLEAN_UP);
        }
        ownership.lookAtKept(current);
        if (current.endsInTime && !current.shared) {
            long left = view.keep.turnLeftNanos(current, now);
            effects.add(left > 0 ? new LookAt(now + left) : Plain.SHARE);
        }
    }

    // ---- threads that are done with the name

    /** A thread has left the queue for the local half of a fair lock. */
    void depart(Thread thread, long now) {
        Ticket place = tickets.of(thread);
        if (place != null) {
            ownership.withdraw(place, now);
        }
    }

    /** A thread has left that doesn't queue: its request is of no use to others. */
    void endOnce(long now) {
        Ticket request = view.ticket;
        if (request != null && !request.queues) {
            ownership.withdraw(request, now);
        }
        question = null;
    }

    /** The end of each event: ends the session's interest in the name, if there is none any more. */
    void settle(long now) {
        refusal = view.ticket == null ? null : refusal;
        if (view.tenure == null && view.ticket == null && (question == null || !question.isOpen())) {
            ownership.endInterest(now);
        }
    }

    // ---- commands

    /** The session's pulse beats: asks how tickets and waiters stand, of many names at a time. */
    void pulse(long now) {
        beat(Plain.ASK_TOGETHER, now);
    }

    /** The same, for this name alone. */
    void beat(long now) {
        beat(Plain.ASK, now);
    }

    private void beat(Plain how, long now) {
        LockTenure current = view.tenure;
        if (ownership.hasConditions()) {
            if (current != null) {
                conditions().flush(current, now);
            }
            effects.add(Plain.BEAT_FOR_WAITERS);
        }
        if (tickets.isToBeAskedFor(now)) {
            tickets.beat(how, now);
        }
    }

    /**
     * Returns what there is to ask, null if nothing.
     *
     * @param firstSequence the first of {@link TicketQueue#unsent} sequences that are greater than all before
     * @param repeatAtNanos when that is repeated, if it has no answer
     */
    @Nullable
    Request request(long firstSequence, long repeatAtNanos, long now) {
        long others = view.fair || ownership.mayHaveMore() ? LockScripts.LEFT_ALONE : LockScripts.ENDED;
        return tickets.request(others, firstSequence, repeatAtNanos, now);
    }

    // ---- replies

    /**
     * Redis has answered a request.
     *
     * @param isLatest whether that is the last one that was sent
     */
    void answered(Request request, AcquireReply reply, boolean isLatest, long now) {
        view.heardNanos = now;
        refusal = null;
        reply.over().forEach(sequence -> over(sequence, now));
        tickets.answered(request, reply, isLatest, now);
        if (reply.status() == Status.BUSY && question != null) {
            question.refused(request.tickets().get(0), request.sequences().get(0), reply.asked(), now);
        }
        if (reply.status() == Status.GRANTED) {
            ownership.granted(reply, request.sentNanos(), now);
        } else if (reply.owner() != 0) {
            ownership.ownedAnyway(reply.owner(), reply.run(), now);
        }
        if (reply.foreign()) {
            view.neighboursSeen(now);
        }
        if (reply.status() == Status.QUEUED) {
            ownership.listen(reply.foreign() && view.ticket != null);
        }
        tickets.requestEnded();
        if (!tickets.isAsking() && tickets.hasMore()) {
            effects.add(Plain.ASK_LATER);
        }
    }

    /**
     * A ticket was granted by another session's release.
     *
     * @param isReplicated whether a failover may yet undo that, so that Redis is asked before a thread enters
     */
    void granted(Mail.Grant grant, boolean isReplicated, long now) {
        if (ownership.granted(grant, isReplicated, now)) {
            effects.add(Plain.WAKE);
        }
    }

    /** Operations that were sent ahead have been answered, or not. */
    void signalled(Signals sent, @Nullable SignalReply reply, long now) {
        LockTenure current = view.tenure;
        if (current == null || current.sequence != sent.sequence()) {
            return;
        }
        if (!conditions().signalled(current, sent, reply, now)) {
            lose(current, OWNER_CHANGED, now);
        }
        if (reply != null && reply.waiters()) {
            effects.add(Plain.DEMANDED);
            ownership.lookAtKept(current);
        }
    }

    private void over(long sequence, long now) {
        Ticket ticket = tickets.of(sequence);
        if (ticket != null && !ownership.isTenure(sequence)) {
            ownership.releaseContinued(ticket, now);
            if (ticket.waiter > 0) {
                conditions().mayComeBack(ticket.waiter);
            }
            tickets.drop(ticket);
        }
    }

    /** A request has met what no repeat will mend. Returns whether a thread waits that throws it. */
    boolean requestRefused(Throwable cause) {
        boolean isThrown = view.ticket != null;
        refusal = isThrown ? cause : null;
        return isThrown;
    }
}
