package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A session's claim to a name: the {@link TicketQueue} by which it asks for it, and the {@link LockTenure} while it
 * owns it. A plain lock has one or the other, never both. Those tickets of a fair lock that are served on its tenure
 * stand until they are.
 *
 * <p>This is what threads do about it: they ask, take what was granted, and give it up. What Redis says is the business
 * of the {@link Correspondence}.
 */
final class Claim extends Correspondence {

    <L extends LockTenure.Owner & Participant> Claim(RedisSession session, String key, boolean fair, L lock) {
        super(session, key, fair, lock);
    }

    /** Returns whether the next thread in line may enter on that tenure. */
    boolean serves(LockTenure current) {
        if (!fair) {
            return true;
        }
        Ticket next = tickets.first();
        return next != null
                && next.sequence != 0
                && (next.sequence == current.sequence || next.sequence <= current.run);
    }

    /**
     * Returns whether the next thread in line may enter on that tenure, or is likely to within a round trip: nobody
     * else is known to wait, and an answer is on its way that tells how far the run goes by now.
     */
    boolean mayServe(LockTenure current) {
        if (serves(current)) {
            return true;
        }
        mutex.lock();
        try {
            return isAboutToServe(current, session.now());
        } finally {
            mutex.unlock();
        }
    }

    private boolean isAboutToServe(LockTenure current, long now) {
        return !current.demand
                && current.isUsable(now)
                && tickets.first() != null
                && inquiry.isAnswerDue(now);
    }

    // ---- threads that want the name, or are done with it; who only announces himself has no local half yet

    enum Advance {
        ENTERED,
        REFUSED,
        WAITING
    }

    /**
     * Gets the current thread, which is about to queue for the local half of a fair lock, a place in the queue of all.
     */
    void announce(long leaseMillis) {
        mutex.lock();
        try {
            if (!closed && !session.isClosed()) {
                placeOf(Thread.currentThread(), leaseMillis, session.now());
            }
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Has those who read leave the lock to a thread of this session that is about to queue for the local half, to
     * write.
     */
    void announceWriter() {
        mutex.lock();
        try {
            LockTenure current = tenure;
            if (current != null && current.shared && tickets.first() == null && !closed && !session.isClosed()) {
                open(newTicket(RemoteLock.RENEWED, true, false, 0, session.now()), session.now());
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Takes that back, unless it has come so far that a thread waits for the lock. */
    void departWriter() {
        mutex.lock();
        try {
            Ticket request = tickets.first();
            if (tenure != null && request != null) {
                withdraw(request);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Enters on a tenure of a fair lock that has come to this thread. */
    boolean enterAtOnce(long now) {
        mutex.lock();
        try {
            LockTenure current = tenure;
            boolean mayEnter = current != null
                    && current.renewed
                    && serves(current)
                    && tickets.of(Thread.currentThread()) != null
                    && current.isUsable(now)
                    && current.tokens.draw();
            if (current != null && mayEnter) {
                serve(current);
            }
            return mayEnter;
        } finally {
            mutex.unlock();
        }
    }

    // The thread in front has the local half and is served first, whosever ticket is the oldest.
    private void serve(LockTenure current) {
        if (fair) {
            Ticket served = tickets.serve(Thread.currentThread());
            if (served.sequence != current.sequence) {
                inquiry.used(served);
            }
        }
    }

    /**
     * Takes the next step towards a usable tenure. What a tenure can't do any more (its lease isn't the one that is
     * wanted, its validity ran out between two threads, its fencing tokens are used up) a new sequence that continues
     * it can.
     *
     * @param once whether the request is over if the name isn't free; it needs no place in a fair lock's queue
     * @param reads whether the thread that calls only reads, beside others
     * @param first whether this is its first step, and it wants an answer
     * @param begun when that thread began
     */
    Advance advance(long leaseMillis, boolean once, boolean reads, boolean first, long begun) {
        mutex.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the Interlock session is closed");
            }
            session.ensureOpen();
            long now = session.now();
            boolean isPlaced = fair && !once;
            Ticket request = isPlaced ? placeOf(Thread.currentThread(), leaseMillis, now) : tickets.first();
            LockTenure current = tenure;
            if (current != null
                    && current.shared
                    && !reads
                    && !current.downgrading.text().isEmpty()) {
                // What that has to do must not be overtaken by the end of the tenure; its release does it if need be.
                giveUp(current).insist();
                current = null;
            }
            if (current != null && current.shared && !reads && request != null && request.queues) {
                // Announced while others were reading, who have left.
                end(current);
                endedTurnNanos = now;
                request.from = current.sequence;
                inquiry.ask(now);
                return Advance.WAITING;
            }
            if (current != null && (once || serves(current))) {
                return enterOrContinue(current, leaseMillis, once, reads, now);
            }
            if (current != null && isAboutToServe(current, now)) {
                return Advance.WAITING;
            }
            if (current != null) {
                // Those of its run have left.
                giveUp(current).insist();
            }
            if (request != null && request.reads != reads && request.from == 0) {
                // It was another thread's, which has left.
                withdraw(request);
                request = null;
            }
            if (request == null) {
                if (once && !first) {
                    return Advance.REFUSED;
                }
                open(newTicket(leaseMillis, !once, reads, 0, now), now);
            } else if (failure != null) {
                throw refused(request, failure);
            } else if (once && request.queues && (fair || hasHeardSince(begun))) {
                return Advance.REFUSED;
            } else if ((first && !(fair && inquiry.inFlight())) || inquiry.isDue(now)) {
                inquiry.ask(now);
            }
            return Advance.WAITING;
        } finally {
            mutex.unlock();
        }
    }

    private Advance enterOrContinue(LockTenure current, long leaseMillis, boolean once, boolean reads, long now) {
        boolean fits = current.fits(leaseMillis == RemoteLock.RENEWED, wanted(leaseMillis));
        boolean covers = reads || !current.shared;
        boolean barges = fair && once;
        if (fits && covers && current.isUsable(now) && (reads || current.tokens.draw())) {
            if (!barges) {
                serve(current);
            }
            return Advance.ENTERED;
        }
        if (!barges) {
            serve(current);
        }
        end(current);
        Ticket next = newTicket(leaseMillis, !once, reads, current.sequence, now);
        if (fair && !once) {
            next.thread = Thread.currentThread();
        }
        open(next, now);
        return Advance.WAITING;
    }

    private Ticket newTicket(long leaseMillis, boolean queues, boolean reads, long from, long now) {
        return new Ticket(wanted(leaseMillis), leaseMillis == RemoteLock.RENEWED, queues, reads, from, now);
    }

    private void end(LockTenure current) {
        current.end();
        ended = current.sequence;
        endedTurnNanos = current.turnNanos;
        tenure = null;
        waiters.begin();
    }

    private IllegalStateException refused(Ticket request, Throwable cause) {
        failure = null;
        tickets.remove(request);
        releaseContinued(request);
        settle();
        return Failures.refusal("lock " + Keys.quoted(key), cause);
    }

    /** Returns for how long the thread that waits may sleep before it has to take another step by itself. */
    long untilNextAdvance() {
        mutex.lock();
        try {
            if (tickets.first() == null) {
                return 1;
            }
            return Math.max(1, Math.min(TicketRequest.POLL_NANOS, inquiry.dueNanos() - session.now()));
        } finally {
            mutex.unlock();
        }
    }

    /** Cancels the place of a thread that has left the queue for the local half of a fair lock. */
    void depart(Thread thread) {
        mutex.lock();
        try {
            Ticket place = tickets.of(thread);
            if (place != null) {
                withdraw(place);
            }
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
            boolean isCurrent = tenure == current;
            List<ConditionWaiter> registered = isCurrent ? waiters.unsent() : List.of();
            Operations operations = isCurrent ? waiters.drain() : Operations.NONE;
            if (isCurrent) {
                end(current);
            }
            // The plain RLock client that is told now needs a round trip to come; the next thread of ours needs none.
            long yieldMillis = current.foreignDemand ? LockScripts.YIELD_MILLIS : 0;
            notBeforeNanos = session.now() + TimeUnit.MILLISECONDS.toNanos(yieldMillis);
            List<Ticket> used = inquiry.drainUsed();
            // What its downgrade has to do is told by that, unless this overtakes it.
            Operations all = isCurrent && current.shared ? current.downgrading : operations;
            var release = ReliableRelease.of(
                    session, scripts, current.ticket, used, all, floor(), !current.demand && !current.shared);
            tellWaiters(release, operations, registered, leaver);
            settle();
            return release;
        } finally {
            mutex.unlock();
        }
    }

    private void tellWaiters(
            ReliableRelease release,
            Operations operations,
            List<ConditionWaiter> registered,
            @Nullable ConditionWaiter leaver) {
        if (!operations.text().isEmpty()) {
            release.confirmed()
                    .whenComplete((released, failure) -> locked(() -> {
                        waiters.released(registered, released, leaver);
                        settle();
                    }));
        }
    }

    /** Has the tenure go on for reading only. It ought to be usable. */
    ReliableRelease downgrade(LockTenure current) {
        mutex.lock();
        try {
            current.shared = true;
            List<ConditionWaiter> registered = waiters.unsent();
            Operations operations = waiters.drain();
            long sent = session.now();
            current.downgrading = operations;
            ReliableRelease release = ReliableRelease.downgrade(
                    session, scripts, current.ticket, operations, floor(), () -> current.undemanded(sent));
            tellWaiters(release, operations, registered, null);
            release.confirmed().thenAccept(released -> {
                locked(() -> current.downgrading = Operations.NONE);
                if (released == LockScripts.Released.NOTHING && tenure == current) {
                    current.lose("its owner in Redis had changed");
                }
            });
            return release;
        } finally {
            mutex.unlock();
        }
    }

    CompletableFuture<?> close() {
        CompletableFuture<?> confirmed;
        mutex.lock();
        try {
            closed = true;
            LockTenure current = tenure;
            if (current != null) {
                // First, or a thread would take it for its own while another session has it.
                current.lose("its session was closed");
            }
            watch(false);
            List<CompletableFuture<?>> releases = new ArrayList<>();
            releases.add(waiters.close());
            if (current != null) {
                Operations operations = current.shared ? current.downgrading : waiters.drain();
                releases.add(release(current.ticket, operations).confirmed());
            }
            tickets.clear().forEach(inquiry::cancelLater);
            for (Ticket request : inquiry.leaving()) {
                if (request.sequence != 0) {
                    Operations operations = request.waiter > 0 ? Operations.SIGNAL_ALL : Operations.NONE;
                    releases.add(release(request, operations).confirmed());
                }
                releaseContinued(request);
            }
            confirmed = CompletableFuture.allOf(releases.toArray(CompletableFuture<?>[]::new));
        } finally {
            mutex.unlock();
        }
        owner.changed();
        return confirmed;
    }
}
