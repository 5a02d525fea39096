package dev.interlock.internal.lock.script;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.Names;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.Ownership.Advance;
import dev.interlock.internal.lock.script.Ownership.Attempt;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The monitor of one name in one session: has the mutex, under which events change the parts of the state.
 *
 * <p><b>Concurrency.</b> Each change is an event, handled under one mutex by the thread that brings it: a thread that
 * wants the name or is done with it, the reply to a command, a message in the mailbox, a beat of the pulse or of the
 * lease renewer. An event ends by waking the threads that it concerns. Nothing blocks under the mutex, which comes
 * after the local half and before the session's own locks. What the fast path reads is volatile: the tenure, its
 * validity, and the oldest ticket. {@link LockState} is what the session knows; {@link TicketRequest} and
 * {@link ConditionQueue} ask Redis, each by one command at a time; {@link Ownership} makes tenures of tickets, has
 * threads enter on them, and gives them up. These parts have no locks of their own.
 *
 * <p><b>Tickets.</b> A session queues in Redis by a {@link Ticket}: a plain lock by one, on behalf of the thread that
 * has the local half; a fair lock by one for each thread. A ticket gets its sequence when it is first sent, and every
 * command acts on exactly that sequence, so a repeated or delayed command changes nothing. A ticket is cancelled only
 * after the command that announces it was answered, since a cancel must not overtake it.
 *
 * <p><b>Grants.</b> Redis grants a name to the head of the queue, in the reply to a request or in a message that
 * another session's release sends. A message may be late or forged; so it counts only within the lease that began when
 * Redis last said "queued", with a newer time and token, and else the session asks. A grant makes a {@link LockTenure}
 * of a ticket; a grant to no ticket is given back.
 *
 * <p><b>Leases and loss.</b> Threads enter on a tenure while it is valid, without asking: its validity ends safely
 * before its lease in Redis, see {@link dev.interlock.internal.session.Lease}. When it can't serve a thread (another
 * lease is wanted, its validity or its fencing tokens are used up) a request with a new sequence continues it. A loss,
 * once seen, stays: the thread that relies on the tenure is told, and its release is sent all the same.
 *
 * <p><b>Conditions.</b> Awaiting and signalling require the lock, so {@link ConditionOperations} logs both locally and
 * ships them with the release. Whether a waiter was signalled or left is decided in Redis, which moves it to the queue
 * of the lock; {@link ConditionQueue} finds out about messages that are lost.
 */
final class LockMonitor {
    private static final Logger log = LoggerFactory.getLogger(LockMonitor.class);

    private final RedisSession session;
    private final LockTenure.Owner owner;
    private final LockScripts scripts;
    private final ReentrantLock mutex = new ReentrantLock();

    @GuardedBy("mutex")
    private final LockState state;

    @GuardedBy("mutex")
    private final ConditionOperations operations;

    @GuardedBy("mutex")
    private final TicketRequest request;

    @GuardedBy("mutex")
    private final ConditionQueue conditions;

    @GuardedBy("mutex")
    private final Ownership ownership;

    <L extends LockTenure.Owner & Participant> LockMonitor(RedisSession session, String key, boolean fair, L lock) {
        this.session = session;
        this.owner = lock;
        this.scripts = new LockScripts(session, key);
        this.state = new LockState(fair, session.settings().leaseMillis(), session.now());
        this.operations = new ConditionOperations(session, scripts, this::signalled);
        this.request = new TicketRequest(session, mutex, scripts, state, operations, lock, this::pulse, this::locked);
        this.conditions = request.conditions();
        this.ownership = request.ownership();
    }

    LockScripts scripts() {
        return scripts;
    }

    /** Returns what threads do with conditions, under the same mutex. */
    ScriptConditions newConditions(ScriptLock lock, LocalLock local) {
        mutex.lock();
        try {
            return new ScriptConditions(session, lock, local, state.fair, mutex, conditions);
        } finally {
            mutex.unlock();
        }
    }

    // ---- what needs no mutex, because it is volatile

    @SuppressWarnings("GuardedBy")
    @Nullable
    LockTenure tenure() {
        return state.tenure();
    }

    /** Returns the oldest ticket. */
    @SuppressWarnings("GuardedBy")
    @Nullable
    Ticket ticket() {
        return state.ticket();
    }

    /** Returns whether Redis has answered about this name since then. */
    @SuppressWarnings("GuardedBy")
    boolean hasHeardSince(long nanos) {
        return state.hasHeardSince(nanos);
    }

    /** Returns whether the next thread in line may enter on that tenure. */
    @SuppressWarnings("GuardedBy")
    boolean serves(LockTenure current) {
        return state.serves(current);
    }

    /** Returns whether there are signals that were not sent. */
    @SuppressWarnings("GuardedBy")
    boolean isAnySignalDue() {
        return operations.isAnySignalDue();
    }

    /** Returns whether waiters of conditions are about to queue for the local half. */
    @SuppressWarnings("GuardedBy")
    boolean isAnyArriving() {
        return conditions.isAnyArriving();
    }

    // ---- threads that want the name; one that only announces itself has no local half yet

    /** Gets the current thread, which is about to queue for the local half of a fair lock, a place in Redis' queue. */
    void announce(long leaseMillis) {
        mutex.lock();
        try {
            if (!state.closed && !session.isClosed()) {
                request.placeOf(Thread.currentThread(), leaseMillis, session.now());
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Has readers leave the lock to a thread of this session that is about to queue for the local half, to write. */
    void announceWriter() {
        mutex.lock();
        try {
            LockTenure current = state.tenure();
            boolean isShared = current != null && current.shared && state.ticket() == null;
            if (isShared && !state.closed && !session.isClosed()) {
                long now = session.now();
                request.open(state.newTicket(RemoteLock.RENEWED, true, false, 0, now), now);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Takes that back, unless it has come so far that a thread waits for the lock. */
    void departWriter() {
        mutex.lock();
        try {
            Ticket ticket = state.ticket();
            if (state.tenure() != null && ticket != null) {
                request.withdraw(ticket);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Enters on a tenure of a fair lock that has come to this thread. */
    boolean enterAtOnce(long now) {
        mutex.lock();
        try {
            return ownership.enterAtOnce(now);
        } finally {
            mutex.unlock();
        }
    }

    /** Returns whether an answer is on its way that is likely to say that the name was free. */
    boolean expectsToBeAlone() {
        mutex.lock();
        try {
            return request.inFlight() && scripts.isQuiet();
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Returns whether the next thread in line may enter on that tenure, or is likely to within a round trip: no other
     * session is known to wait, and an answer is on its way that tells how far the run goes by now.
     */
    boolean mayServe(LockTenure current) {
        if (serves(current)) {
            return true;
        }
        mutex.lock();
        try {
            return ownership.isAboutToServe(current, session.now());
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Takes the current thread's next step towards a usable tenure.
     *
     * @param asks whether this is its first step, and it wants an answer
     */
    Advance advance(Attempt attempt, boolean asks) {
        mutex.lock();
        try {
            if (state.closed) {
                throw new IllegalStateException("the Interlock session is closed");
            }
            session.ensureOpen();
            long now = session.now();
            Ticket ticket = state.fair && !attempt.once()
                    ? request.placeOf(Thread.currentThread(), attempt.leaseMillis(), now)
                    : state.ticket();
            LockTenure current = state.tenure();
            Advance step = current == null ? null : ownership.advanceOn(current, ticket, attempt, now);
            return step == null ? ownership.ask(ticket, attempt, asks, now) : step;
        } finally {
            mutex.unlock();
        }
    }

    /** Returns for how long the thread that waits may sleep before it has to take another step by itself. */
    long untilNextAdvance() {
        mutex.lock();
        try {
            if (state.ticket() == null) {
                return 1;
            }
            return Math.max(1, Math.min(TicketRequest.POLL_NANOS, request.dueNanos() - session.now()));
        } finally {
            mutex.unlock();
        }
    }

    // ---- threads that are done with the name

    /** Cancels a ticket. */
    void withdraw(Ticket ticket) {
        mutex.lock();
        try {
            request.withdraw(ticket);
        } finally {
            mutex.unlock();
        }
    }

    /** Cancels the place of a thread that has left the queue for the local half of a fair lock. */
    void depart(Thread thread) {
        mutex.lock();
        try {
            Ticket place = state.tickets.of(thread);
            if (place != null) {
                request.withdraw(place);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** The tenure goes on for another thread: sends signals ahead. */
    void flush(LockTenure current) {
        if (!isAnySignalDue()) {
            return;
        }
        mutex.lock();
        try {
            operations.flush(current);
        } finally {
            mutex.unlock();
        }
    }

    /** Ends the tenure and releases the name. */
    ReliableRelease giveUp(LockTenure current) {
        return giveUp(current, null);
    }

    /**
     * Ends the tenure and releases the name.
     *
     * @param leaver the waiter that gives it up, if it is one
     */
    ReliableRelease giveUp(LockTenure current, @Nullable ConditionWaiter leaver) {
        mutex.lock();
        try {
            return ownership.giveUp(current, leaver);
        } finally {
            mutex.unlock();
        }
    }

    /** Has the tenure go on for reading only. It ought to be usable. */
    ReliableRelease downgrade(LockTenure current) {
        mutex.lock();
        try {
            return ownership.downgrade(current);
        } finally {
            mutex.unlock();
        }
    }

    private void locked(Runnable event) {
        mutex.lock();
        try {
            event.run();
        } finally {
            mutex.unlock();
        }
    }

    // ---- what Redis and the session tell

    private void signalled(LockTenure current, long last, @Nullable SignalReply reply) {
        boolean isLost;
        mutex.lock();
        try {
            if (state.tenure() != current) {
                return;
            }
            if (operations.done(current, last, reply)) {
                conditions.askForLeavers();
            }
            if (reply != null) {
                state.heard(session.now());
                current.demand |= reply.waiters();
            }
            // A downgrade may have overtaken the signals: that has done them, and the session goes on as a reader.
            isLost = reply != null && !reply.owned() && !current.shared;
        } finally {
            mutex.unlock();
        }
        if (isLost) {
            current.lose("its owner in Redis had changed");
        }
        if (reply != null && reply.waiters()) {
            owner.demanded();
        }
    }

    void receive(Mail mail) {
        if (mail instanceof Mail.Grant grant) {
            granted(grant);
        } else if (mail instanceof Mail.Admission admission) {
            mutex.lock();
            try {
                for (Mail.Admitted one : admission.waiters()) {
                    conditions.admitted(one.waiter(), one.ticket());
                }
            } finally {
                mutex.unlock();
            }
        } else if (mail instanceof Mail.Demand demand) {
            demanded(demand.sequence());
        } else if (mail instanceof Mail.DemandOver over) {
            LockTenure current = tenure();
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
            log.warn("Unknown message for {}: {}", Names.quoted(scripts.key()), mail);
        }
    }

    private void granted(Mail.Grant grant) {
        boolean isNews;
        mutex.lock();
        try {
            isNews = ownership.granted(grant);
        } finally {
            mutex.unlock();
        }
        if (isNews) {
            owner.changed();
        }
    }

    private void demanded(long sequence) {
        LockTenure current = tenure();
        if (current != null && current.sequence == sequence) {
            current.demanded();
        }
    }

    /** Asks how the tickets and waiters stand, if there are any. */
    void pulse() {
        mutex.lock();
        try {
            Ticket ticket = state.ticket();
            long now = session.now();
            LockTenure current = state.tenure();
            if (current != null) {
                operations.flush(current);
            }
            conditions.beat();
            request.settle();
            boolean mayAsk = ticket != null && ticket.queues && state.notBeforeNanos - now <= 0;
            if (mayAsk && !request.isAnswerDue(now)) {
                request.ask(now);
            }
        } finally {
            mutex.unlock();
        }
    }

    CompletableFuture<?> close() {
        List<CompletableFuture<?>> releases = new ArrayList<>();
        mutex.lock();
        try {
            state.closed = true;
            LockTenure current = state.tenure();
            if (current != null) {
                // First, or a thread would take it for its own while another session has it.
                current.lose("its session was closed");
            }
            request.listen(false);
            releases.add(conditions.close());
            if (current != null) {
                Operations due = current.shared ? current.downgrading : operations.drain();
                releases.add(request.release(current.ticket, due).confirmed());
            }
            releases.addAll(request.close());
        } finally {
            mutex.unlock();
        }
        owner.changed();
        return CompletableFuture.allOf(releases.toArray(CompletableFuture<?>[]::new));
    }
}
