package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.FencingTokens;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockEffect.GiveBack;
import dev.interlock.internal.lock.script.LockEffect.GiveUp;
import dev.interlock.internal.lock.script.LockEffect.LookAt;
import dev.interlock.internal.lock.script.LockEffect.Plain;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.Release;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Effects;
import dev.interlock.internal.session.Lease;
import dev.interlock.internal.session.Pace;
import dev.interlock.internal.session.Session;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The tickets and tenures of a session for one name, by their sequences: a part of the {@link LockState}. Redis tells
 * of each ticket by a reply or a message. A granted ticket becomes a {@link LockTenure}; a grant to no ticket is given
 * back.
 */
final class Ownership implements ConditionQueue.Places {
    /** A ticket that has been granted, and what came with that. */
    private record Grant(long sequence, long token, long run, boolean waiters, boolean conditions) {}

    private static final int MOST_RENOUNCED = 100;

    private static final long YIELD_NANOS = TimeUnit.MILLISECONDS.toNanos(LockScripts.YIELD_MILLIS);

    private final LockView view;
    private final TicketQueue tickets;
    private final Settings settings;
    private final Pace pace;
    private final Effects<LockEffect> effects;

    /** Made when it is first used: most names have no conditions. */
    private @Nullable ConditionQueue conditions;

    /**
     * Remote part of the greatest fencing token that Redis has told. It goes into Redis as the floor of all sessions'
     * tokens, so it is learned from replies only: anybody may write messages.
     */
    private long lastToken;

    /** The sequence of the last tenure that was given up; its release may be on its way. */
    private long ended;

    /** When its turn began. */
    private long endedTurnNanos;

    /** Sequences that were given back although their messages may yet come: some of the last ones. */
    private Set<Long> renounced = Set.of();

    /** The sequence whose grant is being taken note of, or 0. */
    private long arriving;

    /** Whether the session keeps the name in its beat, which it does while it has an interest in it. */
    private boolean isPinned;

    /** Whether the session listens on Redisson's channel. */
    private boolean isListening;

    /** Whether the session is closed: nothing is asked for any more. */
    private boolean isClosed;

    Ownership(LockView view, TicketQueue tickets, Settings settings, Pace pace, Effects<LockEffect> effects) {
        this.view = view;
        this.tickets = tickets;
        this.settings = settings;
        this.pace = pace;
        this.effects = effects;
    }

    /** Returns whether the session owns the name by that sequence. */
    boolean isTenure(long sequence) {
        LockTenure current = view.tenure;
        return current != null && current.sequence == sequence;
    }

    /** Returns whether a sequence was given back, so that nothing comes of its grant. */
    private boolean isRenounced(long sequence) {
        return renounced.contains(sequence);
    }

    // Whether a sequence is the tenure's, the last tenure's or a ticket's.
    private boolean isKnown(long sequence) {
        return isTenure(sequence) || sequence == ended || tickets.of(sequence) != null;
    }

    // ---- conditions

    /** Returns whether there may be threads that wait for conditions, or signals. */
    boolean hasConditions() {
        return conditions != null;
    }

    ConditionQueue conditions() {
        if (conditions == null) {
            conditions = new ConditionQueue(this, view, effects, settings);
        }
        return conditions;
    }

    /** Returns what a tenure that is over had to do with them. */
    private Operations drain(long now) {
        return conditions == null ? Operations.NONE : conditions.drain(now);
    }

    private void abandonOperations(long now) {
        if (conditions != null) {
            conditions.abandonOperations(now);
        }
    }

    // ---- tickets

    Ticket newTicket(long lease, boolean queues, boolean reads, long now) {
        return newTicket(lease, pace.heartbeatMillis(), queues, reads, now);
    }

    private Ticket newTicket(long lease, long heartbeatMillis, boolean queues, boolean reads, long now) {
        boolean isRenewed = lease == RemoteLock.RENEWED;
        return new Ticket(isRenewed ? settings.leaseMillis() : lease, isRenewed, heartbeatMillis, queues, reads, now);
    }

    /** Returns a ticket for one that Redis has made of a waiter. */
    private Ticket ticketOfWaiter(long lease, long now) {
        return newTicket(lease, Ticket.HEARTBEAT_MILLIS, true, false, now);
    }

    void open(Ticket ticket, long now) {
        if (isClosed) {
            releaseContinued(ticket, now);
            return;
        }
        tickets.add(ticket);
        pin();
        tickets.askForUnsent(ticket.queues, now);
    }

    /** Returns whether Redis may have given the session a sequence of which it doesn't know yet. */
    boolean mayHaveMore() {
        return view.tenure != null || (conditions != null && (!conditions.isEmpty() || conditions.isReleasing()));
    }

    /** The session has an interest in the name. */
    private void pin() {
        if (!isPinned) {
            isPinned = true;
            effects.add(Plain.PIN);
        }
    }

    /** The session wants nothing of the name any more, and has nothing of it. */
    void endInterest(long now) {
        listen(false);
        abandonOperations(now);
        if (conditions == null || (conditions.isIdle() && !conditions.isReleasing())) {
            unpin();
        }
    }

    private void unpin() {
        if (isPinned) {
            isPinned = false;
            effects.add(Plain.UNPIN);
        }
    }

    /** Says whether the owner of the name is a plain RLock client, which tells of its release on Redisson's channel. */
    void listen(boolean isForeign) {
        if (isListening != isForeign) {
            isListening = isForeign;
            effects.add(isForeign ? Plain.LISTEN : Plain.STOP_LISTENING);
        }
    }

    /** The session was closed when the name was pinned, and may have missed it. */
    void missed(long now) {
        isClosed = true;
        for (Ticket ticket = tickets.anyUnsent(); ticket != null; ticket = tickets.anyUnsent()) {
            tickets.remove(ticket);
            releaseContinued(ticket, now);
        }
    }

    /** A thread is about to queue for the local half of a fair lock: gets a place in Redis' queue, if it has none. */
    @Override
    public void announce(Thread thread, long lease, long now) {
        if (tickets.of(thread) == null) {
            Ticket place = newTicket(lease, true, false, now);
            place.thread = thread;
            open(place, now);
        }
    }

    /** Nobody wants a ticket any more. */
    void withdraw(Ticket ticket, long now) {
        if (!tickets.remove(ticket)) {
            return;
        }
        if (ticket.sequence != 0 && !isTenure(ticket.sequence)) {
            cancel(ticket);
        }
        releaseContinued(ticket, now);
    }

    /** Releases what a ticket was to continue: its request may not have got through. */
    void releaseContinued(Ticket ticket, long now) {
        if (ticket.from != 0) {
            Ticket continued = Ticket.of(ticket.from, ticket.leaseMillis, ticket.renewed, false, 0);
            effects.add(new GiveUp(Release.of(continued, Operations.NONE)));
            abandonOperations(now);
        }
    }

    /** The session is closed, and its tenure lost: what this returns has to be sent. */
    List<Release> close(long now) {
        List<Release> releases = new ArrayList<>();
        LockTenure current = view.tenure;
        isClosed = true;
        listen(false);
        if (current != null) {
            Operations due = current.shared ? current.downgrading : drain(now);
            releases.add(Release.of(current.ticket(), due));
        }
        for (Ticket ticket : tickets.clear()) {
            if (ticket.sequence != 0) {
                Operations due = ticket.waiter > 0 ? Operations.SIGNAL_ALL : Operations.NONE;
                releases.add(Release.of(ticket, due));
            }
            releaseContinued(ticket, now);
        }
        return releases;
    }

    // ---- the end of a tenure

    /** The tenure is over: what this returns has to be sent. */
    Release giveUp(LockTenure current, long now) {
        boolean isCurrent = view.tenure == current;
        Operations due = isCurrent ? drain(now) : Operations.NONE;
        if (isCurrent) {
            end(current);
        }
        // The plain RLock client that is told now needs a round trip to come; the next thread of ours needs none.
        tickets.notBeforeNanos = current.foreignDemand ? now + YIELD_NANOS : now;
        // What its downgrade has to do is told by that, unless this overtakes it.
        Operations all = isCurrent && current.shared ? current.downgrading : due;
        boolean isLikelyAlone = !current.demand && !current.shared;
        return new Release(current.ticket(), tickets.drainUsed(), all, !due.isEmpty(), isLikelyAlone);
    }

    /** The release of a tenure is sent, and nobody waits for its confirmation: requests do, unless others wait. */
    void releasing(LockTenure current, long now) {
        if (!current.demand) {
            view.releases(current.sequence, now);
        }
    }

    /** The release of a tenure is confirmed, or given up: requests may follow. */
    void released(long sequence, long now) {
        view.released(sequence);
        tickets.askForUnsent(true, now);
    }

    /** The tenure, which ought to be usable, goes on for reading only: what this returns has to be sent. */
    Release downgrade(LockTenure current, long now) {
        current.shared = true;
        current.downgrading = drain(now);
        return new Release(current.ticket(), List.of(), current.downgrading, !current.downgrading.isEmpty(), false);
    }

    /** Redis has done so. Returns false if the tenure is lost. */
    boolean downgraded(LockTenure current, Released released) {
        current.downgrading = Operations.NONE;
        return released != Released.NOTHING || view.tenure != current;
    }

    /** The tenure is over for this session. */
    void end(LockTenure current) {
        ended = current.sequence;
        endedTurnNanos = current.turnNanos;
        view.tenure = null;
        Ticket unserved = tickets.of(current.sequence);
        if (unserved != null) {
            // What is released must not be asked for again.
            tickets.drop(unserved);
        }
        if (hasConditions()) {
            conditions().begin();
        }
    }

    /** The same, and what continues it begins another turn. */
    void endTurn(LockTenure current, long now) {
        end(current);
        endedTurnNanos = now;
    }

    /** Looks again when the name isn't kept any longer, which is sooner if others wait. */
    void lookAtKept(LockTenure current) {
        if (current.retained) {
            effects.add(new LookAt(view.keep.keptUntilNanos(current)));
        }
    }

    // ---- tokens

    /** Returns the least remote part of the next fencing token. */
    long floor() {
        return lastToken + 1;
    }

    // A token that is greater than all before, and fits.
    private boolean isNewToken(long token) {
        return token > lastToken && token < FencingTokens.REMOTE_LIMIT;
    }

    // ---- grants

    /** A reply says that a ticket is granted. */
    void granted(AcquireReply reply, long sentNanos, long now) {
        var grant = new Grant(reply.owner(), reply.token(), reply.run(), reply.waiters(), reply.conditions());
        own(grant, sentNanos, Lease.validUntil(sentNanos, reply.ttlMillis()), now);
        if (reply.token() < FencingTokens.REMOTE_LIMIT) {
            lastToken = Math.max(lastToken, reply.token());
        }
    }

    /**
     * A ticket was granted by another session's release.
     *
     * @param isReplicated whether a failover may yet undo that, so that Redis is asked before a thread enters
     * @return whether a thread may find what it waits for
     */
    boolean granted(Mail.Grant mail, boolean isReplicated, long now) {
        long sequence = mail.sequence();
        if (mail.waiter() != 0 && !isRenounced(sequence) && tickets.of(sequence) == null) {
            arriving = sequence;
            conditions().admitted(mail.waiter(), sequence, now);
            arriving = 0;
        }
        if (isRenounced(sequence)) {
            return false;
        }
        Ticket ticket = tickets.of(sequence);
        if (ticket == null || view.tenure != null) {
            grantedInVain(ticket, sequence, mail.run(), now);
            return false;
        }
        if (isReplicated || !granted(mail, ticket, now)) {
            if (view.fair && tickets.isAnswerDue(now)) {
                tickets.isUnconfirmed = true;
            } else {
                tickets.ask(now);
            }
        }
        return true;
    }

    /** A ticket was withdrawn: has it be over in Redis as well. */
    private void cancel(Ticket ticket) {
        if (view.fair && tickets.isAsking()) {
            // It mustn't overtake the command that announces the ticket.
            tickets.leaving.add(ticket);
            return;
        }
        effects.add(new GiveUp(Release.of(ticket, Operations.NONE)));
        if (!view.fair) {
            // The next request may overtake that, and mustn't find the name in use by what is given up.
            tickets.use(ticket);
        }
    }

    /** Takes over the ticket that a waiter has got in the queue. */
    @Override
    public void adopt(Waiter waiter, long sequence, long number, long now) {
        if (tickets.of(sequence) != null) {
            return;
        }
        Ticket other = view.ticket;
        Ticket ticket = ticketOfWaiter(waiter.leaseMillis, waiter.waitingNanos());
        ticket.sequence = sequence;
        ticket.waiter = number;
        // Redis has said so at some time, but the grant may be older than that.
        ticket.queuedAt(waiter.waitingNanos(), 1);
        if (view.fair) {
            ticket.thread = waiter.thread;
        } else if (view.tenure != null || (other != null && sequence != arriving)) {
            effects.add(new GiveUp(Release.of(ticket, Operations.NONE)));
            return;
        } else if (other != null) {
            withdraw(other, now);
        }
        tickets.addQueued(ticket);
        pin();
    }

    /**
     * A message says that a ticket is granted. It says nothing of how long it was on its way; but the grant was made
     * after the last reply that said "queued", so it is valid at least until that command's first sending plus the
     * lease. If less than half of it is left of that, so that the first renewal may come too late, Redis is asked
     * before a thread enters.
     *
     * @return whether that needs no asking
     */
    private boolean granted(Mail.Grant mail, Ticket ticket, long now) {
        long validUntil = Lease.validUntil(ticket.queuedNanos, ticket.grantMillis);
        boolean isNewer = mail.redisMicros() > ticket.queuedRedisMicros && isNewToken(mail.token());
        long leastNanos = TimeUnit.MILLISECONDS.toNanos(ticket.grantMillis) / 2;
        if (validUntil - now <= leastNanos || !isNewer) {
            return false;
        }
        var grant = new Grant(mail.sequence(), mail.token(), mail.run(), mail.waiters(), mail.conditions());
        LockTenure granted = own(grant, ticket.queuedNanos, validUntil, now);
        if (granted != null) {
            granted.renewSoon();
            tickets.askForUnsent(true, now);
        }
        return true;
    }

    // Makes a tenure of a ticket, unless it is none of ours any more, or there is a tenure.
    private @Nullable LockTenure own(Grant grant, long sentNanos, long validUntilNanos, long now) {
        Ticket ticket = tickets.of(grant.sequence);
        if (ticket == null || view.tenure != null) {
            grantedInVain(ticket, grant.sequence, grant.run, now);
            return null;
        }
        boolean continues = ticket.from != 0;
        ticket.from = 0;
        LockTenure granted = new LockTenure(settings, ticket, grant.token, now, sentNanos, validUntilNanos);
        if (!granted.renewed) {
            granted.lookAtEnd(now, effects);
        }
        granted.run = grant.run;
        granted.turnNanos = continues ? endedTurnNanos : now;
        granted.demand = grant.waiters || ticket.isDemanded;
        granted.awaited = grant.conditions;
        if (!isNewToken(grant.token)) {
            // Redis has forgotten what it had counted to. The request that continues this one brings the floor.
            granted.tokens.exhaust();
        }
        if (ticket.thread == null) {
            tickets.remove(ticket);
        }
        view.tenure = granted;
        listen(false);
        if (view.fair && !continues) {
            tickets.dropBefore(ticket);
        }
        return granted;
    }

    /**
     * Granted is what no thread waits for any more, or what is a tenure already; or what can't be one, because Redis
     * has forgotten a tenure that a thread still relies on: then its waiter has to queue again.
     */
    private void grantedInVain(@Nullable Ticket ticket, long sequence, long run, long now) {
        if (ticket != null && view.tenure != null && !isTenure(sequence)) {
            tickets.drop(ticket);
            giveBack(sequence, 0, false);
        } else {
            ownedAnyway(sequence, run, now);
        }
    }

    /** Others wait for what the session owns by that sequence, as a message says. */
    void demanded(long sequence, long now) {
        LockTenure current = view.tenure;
        if (current != null && current.sequence == sequence) {
            current.demanded(now, effects);
            lookAtKept(current);
            return;
        }
        // Looked for last, since there may be thousands.
        Ticket ticket = tickets.of(sequence);
        if (ticket != null) {
            // The message has overtaken the reply that grants it.
            ticket.isDemanded = true;
        } else {
            ownedAnyway(sequence, 0, now);
        }
    }

    /** No other session waits any more for what the session reads on, as a message says. */
    void undemanded(long sequence, long now) {
        LockTenure current = view.tenure;
        if (current != null && current.sequence == sequence) {
            current.undemanded(now, effects);
        }
    }

    /** The session owns another sequence than it has asked for: its tenure, or what it doesn't want any more. */
    void ownedAnyway(long sequence, long run, long now) {
        LockTenure current = view.tenure;
        if (current != null && current.sequence == sequence) {
            current.run = Math.max(current.run, run);
        } else if (!isKnown(sequence) && !isRenounced(sequence) && !mayBeAnnounced(sequence, now)) {
            giveBack(sequence, 0, isWaiters(sequence));
        }
    }

    // Whether there is a message to come that tells whose sequence this is.
    private boolean mayBeAnnounced(long sequence, long now) {
        return isWaiters(sequence) && hasConditions() && conditions().mayBeAnnounced(sequence, now);
    }

    // What the session has given itself is no waiter's, and has nothing to signal.
    private static boolean isWaiters(long sequence) {
        return sequence % Session.SEQUENCE_STEP != 0;
    }

    /** A waiter has got a ticket of which this session doesn't know any more. */
    @Override
    public void grantedToNobody(long sequence, long waiter, boolean isSignalLost) {
        if (!isKnown(sequence)) {
            giveBack(sequence, waiter, waiter > 0 && isSignalLost);
        }
    }

    private void giveBack(long sequence, long waiter, boolean isSignalLost) {
        if (renounced.isEmpty() || renounced.size() >= MOST_RENOUNCED) {
            renounced = new HashSet<>();
        }
        renounced.add(sequence);
        effects.add(new GiveBack(sequence, waiter, isSignalLost));
    }
}
