package dev.interlock.internal.lock.script;

import dev.interlock.internal.Names;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.lock.script.LockScripts.Status;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.Lease;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.Session;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How a session comes to own a name, how its threads enter, and how it gives the name up. Redis says what becomes of
 * the tickets, by a reply or a message: a granted ticket becomes a tenure, and what was granted to no ticket is given
 * back. Threads step towards a tenure that they can use. The owner calls it with the mutex held.
 */
final class Ownership {
    /** What became of a thread's step towards a tenure. */
    enum Advance {
        ENTERED,
        REFUSED,
        WAITING
    }

    /**
     * A thread's attempt to enter.
     *
     * @param leaseMillis {@link RemoteLock#RENEWED} or a fixed lease
     * @param once whether it is over if the name isn't free; it needs no place in a fair lock's queue
     * @param reads whether the thread only reads, beside others
     */
    record Attempt(long leaseMillis, boolean once, boolean reads, long begunNanos) {}

    /** A ticket that has been granted, and what came with that. */
    private record Grant(long sequence, long token, long run, boolean waiters, boolean conditions) {}

    private final LockMonitor.Shared shared;
    private final RedisSession session;
    private final LockScripts scripts;
    private final LockState state;
    private final TicketRequest request;
    private final ConditionQueue conditions;
    private final ConditionOperations operations;

    Ownership(LockMonitor.Shared shared, TicketRequest request, ConditionQueue conditions) {
        this.shared = shared;
        this.session = shared.session();
        this.scripts = shared.scripts();
        this.state = shared.state();
        this.request = request;
        this.conditions = conditions;
        this.operations = conditions.operations();
    }

    // ---- threads

    /** Enters on a tenure of a fair lock that has come to the current thread. */
    boolean enterAtOnce(long now) {
        LockTenure current = state.tenure();
        boolean mayEnter = current != null
                && current.renewed
                && state.serves(current)
                && state.tickets.of(Thread.currentThread()) != null
                && current.isUsable(now)
                && current.tokens.draw();
        if (current != null && mayEnter) {
            serve(current);
        }
        return mayEnter;
    }

    // The thread in front has the local half and is served first, whichever thread's ticket is the oldest.
    private void serve(LockTenure current) {
        if (state.fair) {
            Ticket served = state.tickets.serve(Thread.currentThread());
            if (served.sequence != current.sequence) {
                request.used(served);
            }
        }
    }

    /** Has readers leave the tenure to a thread that is about to queue for the local half, to write. */
    void announceWriter() {
        LockTenure current = state.tenure();
        boolean isShared = current != null && current.shared && state.ticket() == null;
        if (isShared && !state.closed && !session.isClosed()) {
            long now = session.now();
            request.open(state.newTicket(RemoteLock.RENEWED, true, false, now), now);
        }
    }

    /** Takes that back, unless it has come so far that a thread waits for the lock. */
    void departWriter() {
        Ticket ticket = state.ticket();
        if (state.tenure() != null && ticket != null) {
            request.withdraw(ticket);
        }
    }

    /**
     * Returns whether the next thread in line is likely to be served on that tenure within a round trip: no other
     * session is known to wait, and an answer is on its way that tells how far the run goes by now.
     */
    boolean isAboutToServe(LockTenure current, long now) {
        return !current.demand && current.isUsable(now) && state.ticket() != null && request.isAnswerDue(now);
    }

    /** Takes a thread's step on a tenure that there is; returns null if that is given up now. */
    @Nullable
    Advance advanceOn(LockTenure current, @Nullable Ticket ticket, Attempt attempt, long now) {
        if (current.shared && !attempt.reads) {
            if (!current.downgrading.text().isEmpty()) {
                // What that has to do must not be overtaken by the end of the tenure; its release does it if need be.
                giveUp(current, null).insist();
                return null;
            }
            if (ticket != null && ticket.queues) {
                // Announced while others were reading, which have left.
                end(current);
                state.endedTurnNanos = now;
                ticket.from = current.sequence;
                request.ask(now);
                return Advance.WAITING;
            }
        }
        if (attempt.once || state.serves(current)) {
            return enterOrContinue(current, attempt, now);
        }
        if (isAboutToServe(current, now)) {
            return Advance.WAITING;
        }
        // The threads of its run have left.
        giveUp(current, null).insist();
        return null;
    }

    /**
     * What a tenure can't do any more (its lease isn't the one that is wanted, its validity ran out between two
     * threads, its fencing tokens are used up) a new sequence that continues it can.
     */
    private Advance enterOrContinue(LockTenure current, Attempt attempt, long now) {
        long lease = attempt.leaseMillis;
        boolean fits = current.fits(lease == RemoteLock.RENEWED, state.wantedMillis(lease));
        boolean covers = attempt.reads || !current.shared;
        boolean barges = state.fair && attempt.once;
        boolean enters = fits && covers && current.isUsable(now) && (attempt.reads || current.tokens.draw());
        if (!barges) {
            serve(current);
        }
        if (enters) {
            return Advance.ENTERED;
        }
        end(current);
        Ticket next = state.newTicket(lease, !attempt.once, attempt.reads, now);
        next.from = current.sequence;
        if (state.fair && !attempt.once) {
            next.thread = Thread.currentThread();
        }
        request.open(next, now);
        return Advance.WAITING;
    }

    /** Takes a thread's step where there is no tenure. */
    Advance ask(@Nullable Ticket ticket, Attempt attempt, boolean asks, long now) {
        Ticket own = ticket;
        if (own != null && own.reads != attempt.reads && own.from == 0) {
            // It was another thread's, which has left.
            request.withdraw(own);
            own = null;
        }
        if (own == null) {
            if (attempt.once && !asks) {
                return Advance.REFUSED;
            }
            request.open(state.newTicket(attempt.leaseMillis, !attempt.once, attempt.reads, now), now);
        } else if (state.refusal != null) {
            throw refused(own, state.refusal);
        } else if (attempt.once && own.queues && (state.fair || state.hasHeardSince(attempt.begunNanos))) {
            return Advance.REFUSED;
        } else if ((asks && !(state.fair && request.inFlight())) || request.isDue(now)) {
            request.ask(now);
        }
        return Advance.WAITING;
    }

    private IllegalStateException refused(Ticket ticket, Throwable cause) {
        state.refusal = null;
        state.tickets.remove(ticket);
        request.releaseContinued(ticket);
        request.settle();
        return Failures.refusal("lock " + Names.quoted(scripts.key()), cause);
    }

    /** The tenure is over for this session. */
    void end(LockTenure current) {
        state.end(current);
        operations.begin();
    }

    // ---- the end of a tenure

    /**
     * Ends the tenure and releases the name.
     *
     * @param leaver the waiter that gives it up, if it is one
     */
    ReliableRelease giveUp(LockTenure current, @Nullable ConditionWaiter leaver) {
        boolean isCurrent = state.tenure() == current;
        List<ConditionWaiter> registered = isCurrent ? operations.unsent() : List.of();
        Operations due = isCurrent ? operations.drain() : Operations.NONE;
        if (isCurrent) {
            end(current);
        }
        // The plain RLock client that is told now needs a round trip to come; the next thread of ours needs none.
        long yieldMillis = current.foreignDemand ? LockScripts.YIELD_MILLIS : 0;
        state.notBeforeNanos = session.now() + TimeUnit.MILLISECONDS.toNanos(yieldMillis);
        List<Ticket> used = request.drainUsed();
        // What its downgrade has to do is told by that, unless this overtakes it.
        Operations all = isCurrent && current.shared ? current.downgrading : due;
        boolean isLikelyAlone = !current.demand && !current.shared;
        var release = ReliableRelease.of(session, scripts, current.ticket, used, all, state.floor(), isLikelyAlone);
        tellWaiters(release, due, registered, leaver);
        request.askForUnsent(true, session.now());
        request.settle();
        return release;
    }

    private void tellWaiters(
            ReliableRelease release,
            Operations due,
            List<ConditionWaiter> registered,
            @Nullable ConditionWaiter leaver) {
        if (!due.text().isEmpty()) {
            release.confirmed()
                    .whenComplete((released, failure) -> shared.locked(() -> {
                        conditions.released(registered, released, leaver);
                        request.settle();
                    }));
        }
    }

    /** Has the tenure go on for reading only. It ought to be usable. */
    ReliableRelease downgrade(LockTenure current) {
        current.shared = true;
        List<ConditionWaiter> registered = operations.unsent();
        Operations due = operations.drain();
        long sent = session.now();
        current.downgrading = due;
        ReliableRelease release = ReliableRelease.downgrade(
                session, scripts, current.ticket, due, state.floor(), () -> current.undemanded(sent));
        tellWaiters(release, due, registered, null);
        release.confirmed().thenAccept(released -> {
            shared.locked(() -> current.downgrading = Operations.NONE);
            if (released == Released.NOTHING && state.tenure() == current) {
                current.lose("its owner in Redis had changed");
            }
        });
        return release;
    }

    // ---- replies

    /** Takes the answer to a ticket request. */
    void answered(TicketRequest.Answer answer) {
        long now = session.now();
        state.heard(now);
        AcquireReply reply = answer.reply();
        reply.over().forEach(this::over);
        queued(answer.sent(), reply);
        if (reply.status() == Status.GRANTED) {
            long validUntil = Lease.validUntil(answer.sent().nanos(), reply.ttlMillis());
            own(
                    new Grant(reply.owner(), reply.token(), reply.run(), reply.waiters(), reply.conditions()),
                    validUntil,
                    now);
            state.learnToken(reply.token());
        } else if (reply.owner() != 0) {
            ownedAnyway(reply.owner(), reply.run());
        }
        if (reply.status() == Status.QUEUED) {
            request.listen(reply.foreign() && state.ticket() != null);
        }
        request.settle();
    }

    private void queued(TicketRequest.Sent sent, AcquireReply reply) {
        for (int i = 0; i < sent.tickets().size(); i++) {
            Ticket ticket = sent.tickets().get(i);
            long sequence = sent.sequences().get(i);
            if (ticket.sequence != sequence || sequence == reply.owner()) {
                continue;
            }
            if (reply.status() == Status.BUSY) {
                state.tickets.remove(ticket);
                continue;
            }
            ticket.queuedAt(sent.nanos(), reply.redisMicros());
            if (ticket.from != 0 && state.tickets.contains(ticket)) {
                state.tickets.queue(ticket);
            }
        }
    }

    private void over(long sequence) {
        Ticket ticket = state.tickets.of(sequence);
        if (ticket != null && !state.isTenure(sequence)) {
            request.releaseContinued(ticket);
            drop(ticket);
        }
    }

    // A thread's ticket is sent anew.
    private void drop(Ticket ticket) {
        if (ticket.thread == null) {
            state.tickets.remove(ticket);
        } else {
            state.tickets.renew(ticket);
        }
    }

    // ---- messages

    /**
     * A ticket was granted by another session's release. The message says nothing of how long it was on its way; but
     * the grant was made after the last reply that said "queued", so it is valid at least until that command's first
     * sending plus the lease. If less than a quarter of it is left of that, so that the first renewal may come too
     * late, or if a failover may yet undo it, Redis is asked before a thread enters.
     *
     * @return whether a thread may find what it waits for
     */
    boolean granted(Mail.Grant mail) {
        long sequence = mail.sequence();
        if (mail.waiter() != 0 && sequence != state.renounced && state.tickets.of(sequence) == null) {
            state.arrivingGrant = sequence;
            conditions.admitted(mail.waiter(), sequence);
            state.arrivingGrant = 0;
        }
        if (sequence == state.renounced) {
            return false;
        }
        Ticket ticket = state.tickets.of(sequence);
        if (ticket == null || state.tenure() != null) {
            ownedInVain(ticket, sequence, mail.run());
            return false;
        }
        long now = session.now();
        long validUntil = Lease.validUntil(ticket.queuedNanos(), ticket.grantMillis());
        boolean isNewer = mail.redisMicros() > ticket.queuedRedisMicros() && state.isNewToken(mail.token());
        long leastNanos = TimeUnit.MILLISECONDS.toNanos(ticket.grantMillis()) / 4;
        if (validUntil - now > leastNanos && isNewer && !session.runner().isReplicated()) {
            LockTenure granted = own(
                    new Grant(sequence, mail.token(), mail.run(), mail.waiters(), mail.conditions()), validUntil, now);
            if (granted != null) {
                granted.renewSoon();
                request.askForUnsent(true, now);
            }
        } else if (state.fair && request.isAnswerDue(now)) {
            request.confirmLater();
        } else {
            request.ask(now);
        }
        return true;
    }

    // ---- tenures

    /** Makes a tenure of a ticket, unless it is none of ours any more, or there is a tenure. */
    private @Nullable LockTenure own(Grant grant, long validUntilNanos, long now) {
        Ticket ticket = state.tickets.of(grant.sequence);
        if (ticket == null || state.tenure() != null) {
            ownedInVain(ticket, grant.sequence, grant.run);
            return null;
        }
        boolean continues = ticket.from != 0;
        ticket.from = 0;
        LockTenure granted = new LockTenure(
                session.renewer(), scripts::renew, shared.owner(), ticket, grant.token, now, validUntilNanos);
        granted.run = grant.run;
        granted.turnNanos = continues ? state.endedTurnNanos : now;
        granted.demand = grant.waiters;
        granted.awaited = grant.conditions;
        if (!state.isNewToken(grant.token)) {
            // Redis has forgotten what it had counted to. The request that continues this one brings the floor.
            granted.tokens.exhaust();
        }
        if (ticket.thread == null) {
            state.tickets.remove(ticket);
        }
        state.begin(granted);
        request.listen(false);
        if (state.fair && !continues) {
            state.tickets.renewBefore(ticket);
        }
        return granted;
    }

    // Granted is what no thread waits for any more, or what is a tenure already; or what can't be one, because Redis
    // has forgotten a tenure that a thread still relies on: then its waiter has to queue again.
    private void ownedInVain(@Nullable Ticket ticket, long sequence, long run) {
        if (ticket != null && state.tenure() != null && !state.isTenure(sequence)) {
            drop(ticket);
            request.giveBack(sequence, 0, Operations.NONE);
        } else {
            ownedAnyway(sequence, run);
        }
    }

    // What the session owns by another sequence than it has asked for: its tenure, or what it doesn't want any more.
    private void ownedAnyway(long sequence, long run) {
        LockTenure current = state.tenure();
        if (current != null && current.sequence == sequence) {
            current.run = Math.max(current.run, run);
        } else if (!state.isKnown(sequence) && sequence != state.renounced && !mayBeAnnounced(sequence)) {
            request.giveBack(sequence, 0, isWaiters(sequence) ? Operations.SIGNAL_ALL : Operations.NONE);
        }
    }

    private boolean mayBeAnnounced(long sequence) {
        return !conditions.isIdle()
                && isWaiters(sequence)
                && state.mayBeAnnounced(
                        sequence, session.now(), session.settings().silenceNanos());
    }

    // What the session has given itself is no waiter's, and has nothing to signal.
    private static boolean isWaiters(long sequence) {
        return sequence % Session.SEQUENCE_STEP != 0;
    }
}
