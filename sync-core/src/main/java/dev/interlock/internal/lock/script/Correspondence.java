package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.FencingTokens;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.UnlockChannels;
import dev.interlock.internal.session.Lease;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.Session;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a {@link Claim} asks Redis, and what follows from what Redis says.
 *
 * <p>Whatever changes the claim is an event, handled under {@link #mutex} by whichever thread brings it: a thread that
 * wants the name or is done with it, the reply to a command, a message in the mailbox, a beat of the pulse or of the
 * lease renewer. Events that concern a waiting thread end by waking it. Nothing blocks under the mutex, and no event
 * waits for the local half, which comes first in the lock order.
 */
abstract class Correspondence implements TicketRequest.Asker {
    private static final Logger log = LoggerFactory.getLogger(Correspondence.class);

    final RedisSession session;
    final String key;
    final boolean fair;
    final LockScripts scripts;
    final TicketRequest inquiry;
    final LockTenure.Owner owner;
    private final Participant stake;

    final ReentrantLock mutex = new ReentrantLock();
    final TicketQueue tickets = new TicketQueue();
    final ConditionQueue waiters;
    volatile @Nullable LockTenure tenure;
    private volatile long heardNanos;
    private UnlockChannels.@Nullable Subscription watch;

    /**
     * Remote part of the greatest fencing token that Redis has told. Anybody may write messages, and what is learned
     * here goes into Redis as the floor of all sessions' tokens: so it is from replies only.
     */
    private volatile long lastToken;

    /** The last tenure that was given up; its release may be on its way. */
    long ended;

    /** When its turn began. */
    long endedTurnNanos;

    boolean closed;

    /** What no repetition will mend. */
    @Nullable
    Throwable failure;

    /**
     * A sequence that this session owns, and didn't give to itself: it belongs to a waiter of a condition, and the
     * message that tells which is on its way. If it isn't lost.
     */
    private long unannounced;

    private long unannouncedNanos;

    /** The last one that was given up, though its message may come. */
    private long renounced;

    /** The sequence whose grant is being taken note of. */
    private long arrivingGrant;

    /** Before that, plain RLock clients have their turn. */
    long notBeforeNanos;

    <L extends LockTenure.Owner & Participant> Correspondence(RedisSession session, String key, boolean fair, L lock) {
        this.session = session;
        this.key = key;
        this.fair = fair;
        this.scripts = new LockScripts(session, key);
        this.inquiry = new TicketRequest(session, mutex, scripts, fair, this);
        this.waiters = new ConditionQueue(session, scripts, fair, this, mutex);
        this.owner = lock;
        this.stake = lock;
        this.notBeforeNanos = session.now();
    }

    @Nullable
    LockTenure tenure() {
        return tenure;
    }

    /** Returns the oldest ticket. */
    @Nullable
    Ticket ticket() {
        return tickets.first();
    }

    LockScripts scripts() {
        return scripts;
    }

    ConditionQueue waiters() {
        return waiters;
    }

    @Override
    public long floor() {
        return lastToken + 1;
    }

    /** Returns whether Redis has answered about this name since then. */
    boolean hasHeardSince(long nanos) {
        return heardNanos - nanos > 0;
    }

    // ---- what is asked for

    /** Returns whether an answer is on its way that is likely to say that the name was free. */
    boolean expectsToBeAlone() {
        mutex.lock();
        try {
            return inquiry.inFlight() && scripts.isQuiet();
        } finally {
            mutex.unlock();
        }
    }

    /** Returns the ticket of a thread of a fair lock, a new one if it has none. */
    Ticket placeOf(Thread thread, long leaseMillis, long now) {
        Ticket place = tickets.of(thread);
        if (place == null) {
            place = new Ticket(wanted(leaseMillis), leaseMillis == RemoteLock.RENEWED, true, 0, now);
            place.thread = thread;
            open(place, now);
        }
        return place;
    }

    long wanted(long leaseMillis) {
        return leaseMillis == RemoteLock.RENEWED ? session.settings().leaseMillis() : leaseMillis;
    }

    /** Asks for the name. */
    void open(Ticket request, long now) {
        tickets.add(request);
        session.pin(key, stake);
        if (session.isClosed()) {
            // It may have missed this stake.
            tickets.remove(request);
            releaseContinued(request);
            settle();
            session.ensureOpen();
        }
        if (inquiry.inFlight()) {
            return;
        }
        if (!request.queues || notBeforeNanos - now <= 0) {
            inquiry.askForNew(now);
        } else {
            inquiry.dueAt(notBeforeNanos);
        }
    }

    /** Cancels a ticket. */
    void withdraw(Ticket request) {
        mutex.lock();
        try {
            if (!tickets.contains(request)) {
                return;
            }
            tickets.remove(request);
            LockTenure current = tenure;
            boolean isGranted = current != null && current.sequence == request.sequence;
            if (request.sequence != 0 && !isGranted) {
                cancelInOrder(request);
            }
            releaseContinued(request);
            settle();
        } finally {
            mutex.unlock();
        }
    }

    private void cancelInOrder(Ticket request) {
        if (fair && inquiry.inFlight()) {
            inquiry.cancelLater(request);
        } else {
            release(request).insist();
            if (!fair) {
                // The next request may overtake that, and mustn't find the name in use by what is given up.
                inquiry.used(request);
            }
        }
    }

    // A request that was to continue a tenure may not have got through.
    void releaseContinued(Ticket request) {
        if (request.from != 0) {
            Ticket continued = new Ticket(request.leaseMillis, request.renewed, true, 0, session.now());
            continued.sequence = request.from;
            release(continued).insist();
            waiters.abandonOperations();
        }
    }

    ReliableRelease release(Ticket request) {
        return release(request, Operations.NONE);
    }

    ReliableRelease release(Ticket request, Operations operations) {
        return ReliableRelease.of(session, scripts, request, List.of(), operations, floor(), false);
    }

    void locked(Runnable event) {
        mutex.lock();
        try {
            event.run();
        } finally {
            mutex.unlock();
        }
    }

    // ---- what becomes of waiters for conditions

    /** Takes over the ticket that a waiter has got in the queue. */
    void adopt(ConditionWaiter waiter, long sequence, long number) {
        Ticket other = tickets.first();
        if (tickets.of(sequence) != null) {
            return;
        }
        var ticket = new Ticket(
                wanted(waiter.leaseMillis), waiter.leaseMillis == RemoteLock.RENEWED, true, 0, waiter.waitingNanos());
        ticket.sequence = sequence;
        ticket.waiter = number;
        // Redis has said so at some time, but the grant may be older than that.
        ticket.queuedAt(waiter.waitingNanos(), 1);
        if (fair) {
            ticket.thread = waiter.thread;
        } else if (closed || tenure != null || (other != null && sequence != arrivingGrant)) {
            release(ticket).insist();
            return;
        } else if (other != null) {
            withdraw(other);
        }
        tickets.addQueued(ticket);
        session.pin(key, stake);
    }

    /** Gets a waiter of a fair lock a place in the queue. */
    void place(ConditionWaiter waiter) {
        try {
            if (!closed && !session.isClosed()) {
                placeOf(waiter.thread, waiter.leaseMillis, session.now());
            }
        } catch (IllegalStateException e) {
            log.debug("The session of {} is being closed", Keys.quoted(key), e);
        }
    }

    /** Gives up the ticket of a waiter that nobody knows any more. */
    void cancelUnwanted(long sequence, long number, boolean isSignalLost) {
        LockTenure current = tenure;
        boolean isTenure = current != null && current.sequence == sequence;
        if (!isTenure && sequence != ended && tickets.of(sequence) == null) {
            giveBack(sequence, number, number > 0 && isSignalLost ? Operations.SIGNAL_ALL : Operations.NONE);
        }
    }

    /** Takes the answer to operations. */
    void signalled(LockTenure current, long last, @Nullable SignalReply signalled) {
        boolean isLost = false;
        boolean isDemanded = false;
        mutex.lock();
        try {
            if (tenure != current) {
                return;
            }
            waiters.done(current, last, signalled);
            if (signalled != null) {
                heardNanos = session.now();
                isLost = !signalled.owned();
                isDemanded = signalled.waiters();
                current.demand |= isDemanded;
            }
        } finally {
            mutex.unlock();
        }
        if (isLost) {
            current.lose("its owner in Redis had changed");
        }
        if (isDemanded) {
            owner.demanded();
        }
    }

    /** Redis has answered. */
    void heard() {
        heardNanos = session.now();
    }

    // ---- replies and messages

    @Override
    public List<Ticket> due(boolean isComplete) {
        return isComplete ? tickets.all(tenure) : tickets.arriving(tenure);
    }

    @Override
    public boolean knowsAll() {
        return tenure == null && waiters.isEmpty() && !waiters.isReleasing();
    }

    @Override
    public void answered(TicketRequest.Sent sent, AcquireReply reply) {
        long now = session.now();
        heardNanos = now;
        answered(sent, reply, now);
    }

    @Override
    public void refused(Throwable cause) {
        if (tickets.first() != null) {
            failure = cause;
        }
    }

    @Override
    public void cancel(Ticket ticket) {
        release(ticket).insist();
    }

    @Override
    public boolean isConfirmationDue() {
        return tenure == null;
    }

    @Override
    public boolean hasUnsent() {
        return tickets.hasUnsent();
    }

    @Override
    public void changed() {
        owner.changed();
    }

    private void answered(TicketRequest.Sent sent, AcquireReply reply, long now) {
        reply.over().forEach(this::over);
        boolean isBusy = reply.status() == LockScripts.Status.BUSY;
        for (int i = 0; i < sent.tickets().size(); i++) {
            Ticket ticket = sent.tickets().get(i);
            long sequence = sent.sequences().get(i);
            if (ticket.sequence != sequence || sequence == reply.owner()) {
                continue;
            }
            if (isBusy) {
                tickets.remove(ticket);
                continue;
            }
            ticket.queuedAt(sent.nanos(), reply.redisMicros());
            if (ticket.from != 0 && tickets.contains(ticket)) {
                tickets.queue(ticket);
            }
        }
        if (reply.status() == LockScripts.Status.GRANTED) {
            long valid = Lease.validUntil(sent.nanos(), reply.ttlMillis());
            long flags = (reply.waiters() ? 1L : 0L) + (reply.conditions() ? 2L : 0L);
            own(reply.owner(), reply.token(), reply.run(), flags, valid, now);
            lastToken = reply.token() < FencingTokens.REMOTE_LIMIT ? Math.max(lastToken, reply.token()) : lastToken;
        } else if (reply.owner() != 0) {
            ownedAnyway(reply.owner(), reply.run());
        }
        if (reply.status() == LockScripts.Status.QUEUED) {
            watch(reply.foreign() && tickets.first() != null);
        }
        settle();
    }

    void over(long sequence) {
        Ticket ticket = tickets.of(sequence);
        LockTenure current = tenure;
        if (ticket == null || (current != null && current.sequence == sequence)) {
            return;
        }
        releaseContinued(ticket);
        if (ticket.thread == null) {
            tickets.remove(ticket);
        } else {
            tickets.renew(ticket);
        }
    }

    // What the session owns by another sequence than it has asked for: its tenure, or what it doesn't want any more.
    private void ownedAnyway(long sequence, long run) {
        LockTenure current = tenure;
        if (current != null && current.sequence == sequence) {
            current.run = Math.max(current.run, run);
        } else if (sequence != ended
                && sequence != renounced
                && tickets.of(sequence) == null
                && !mayBeAnnounced(sequence)) {
            // What the session has given itself was no waiter's, and has nothing to signal.
            boolean isWaiters = sequence % Session.SEQUENCE_STEP != 0;
            giveBack(sequence, 0, isWaiters ? Operations.SIGNAL_ALL : Operations.NONE);
        }
    }

    private boolean mayBeAnnounced(long sequence) {
        if (waiters.isIdle() || sequence % Session.SEQUENCE_STEP == 0) {
            return false;
        }
        long now = session.now();
        if (sequence != unannounced) {
            unannounced = sequence;
            unannouncedNanos = now;
            return true;
        }
        return now - unannouncedNanos < session.settings().silenceNanos();
    }

    private void giveBack(long sequence, long number, Operations operations) {
        renounced = sequence;
        ReliableRelease.giveBack(session, scripts, sequence, number, operations, floor());
    }

    void receive(Mail mail) {
        if (mail instanceof Mail.Grant grant) {
            granted(grant);
        } else if (mail instanceof Mail.Admission admission) {
            locked(() -> waiters.admitted(admission));
        } else if (mail instanceof Mail.Demand demand) {
            demanded(demand.sequence());
        } else if (mail instanceof Mail.DemandOver over) {
            LockTenure current = tenure;
            if (current != null && current.sequence == over.sequence()) {
                current.undemanded(session.now());
            }
        } else if (mail instanceof Mail.IdleDemand demand) {
            if (!owner.isRelied()) {
                demanded(demand.sequence());
            }
        } else if (mail instanceof Mail.AskAgain again) {
            session.schedule(this::pulse, again.millis());
        } else {
            log.warn("Unknown message for {}: {}", Keys.quoted(key), mail);
        }
    }

    /**
     * A ticket was granted by somebody else's release. The message says nothing of how long it was on its way; but the
     * grant was made after the last reply that said "queued", so it is valid at least until that command's first
     * sending plus the lease. Later than that, or if a failover may yet undo it, Redis is asked before anybody enters.
     */
    private void granted(Mail.Grant grant) {
        long sequence = grant.sequence();
        long token = grant.token();
        long redisMicros = grant.redisMicros();
        long flags = (grant.waiters() ? 1L : 0L) + (grant.conditions() ? 2L : 0L);
        long run = grant.run();
        long waiter = grant.waiter();
        mutex.lock();
        try {
            if (waiter != 0 && sequence != renounced && tickets.of(sequence) == null) {
                arrivingGrant = sequence;
                waiters.admitted(waiter, sequence);
                arrivingGrant = 0;
            }
            if (sequence == renounced) {
                return;
            }
            Ticket request = tickets.of(sequence);
            if (request == null || tenure != null) {
                ownedInVain(request, sequence, run);
                return;
            }
            long now = session.now();
            long valid = Lease.validUntil(request.queuedNanos(), request.grantMillis());
            boolean newer = redisMicros > request.queuedRedisMicros() && isNewToken(token);
            if (now - valid < 0 && newer && !session.runner().isReplicated()) {
                LockTenure granted = own(sequence, token, run, flags, valid, now);
                if (granted != null) {
                    granted.renewSoon();
                }
            } else if (fair && inquiry.isAnswerDue(now)) {
                inquiry.confirmLater();
            } else {
                inquiry.ask(now);
            }
        } finally {
            mutex.unlock();
        }
        owner.changed();
    }

    private void demanded(long sequence) {
        LockTenure current = tenure;
        if (current != null && current.sequence == sequence) {
            current.demanded();
        }
    }

    /** Makes a tenure of a ticket, unless it is none of ours any more, or there is a tenure. */
    private @Nullable LockTenure own(long sequence, long token, long run, long flags, long validUntilNanos, long now) {
        Ticket request = tickets.of(sequence);
        if (request == null || tenure != null) {
            ownedInVain(request, sequence, run);
            return null;
        }
        boolean continues = request.from != 0;
        request.from = 0;
        LockTenure granted =
                new LockTenure(session.renewer(), scripts::renew, owner, request, token, now, validUntilNanos);
        granted.run = run;
        granted.turnNanos = continues ? endedTurnNanos : now;
        granted.demand = (flags & 1) != 0;
        granted.awaited = (flags & 2) != 0;
        if (!isNewToken(token)) {
            // Redis has forgotten what it had counted to. The request that continues this one brings the floor.
            granted.tokens.exhaust();
        }
        if (request.thread == null) {
            tickets.remove(request);
        }
        tenure = granted;
        watch(false);
        return granted;
    }

    private boolean isNewToken(long token) {
        return token > lastToken && token < FencingTokens.REMOTE_LIMIT;
    }

    // Granted is what nobody waits for any more, or what is a tenure already; or what can't be one, because Redis has
    // forgotten a tenure that a thread still relies on: then its waiter has to queue again.
    private void ownedInVain(@Nullable Ticket request, long sequence, long run) {
        LockTenure current = tenure;
        if (request != null && current != null && current.sequence != sequence) {
            if (request.thread == null) {
                tickets.remove(request);
            } else {
                tickets.renew(request);
            }
            giveBack(sequence, 0, Operations.NONE);
        } else {
            ownedAnyway(sequence, run);
        }
    }

    // ---- the beats of the session

    /** Asks how the tickets stand, if there are any. */
    void pulse() {
        mutex.lock();
        try {
            Ticket request = tickets.first();
            long now = session.now();
            LockTenure current = tenure;
            if (current != null) {
                waiters.flush(current);
            }
            waiters.beat();
            settle();
            if (request == null || !request.queues || notBeforeNanos - now > 0) {
                return;
            }
            if (!inquiry.isAnswerDue(now)) {
                inquiry.ask(now);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Lets go of the stake, if there is none any more. */
    void settle() {
        if (tenure == null && tickets.first() == null) {
            watch(false);
            waiters.abandonOperations();
            if (waiters.isIdle() && !waiters.isReleasing()) {
                session.unpin(key, stake);
            }
        }
    }

    void watch(boolean foreign) {
        if (foreign && watch == null) {
            watch = session.channels().listen(scripts.channel(), this::pulse);
        } else if (!foreign && watch != null) {
            watch.close();
            watch = null;
        }
    }
}
