package dev.interlock.internal.lock.script;

import com.google.common.primitives.ImmutableLongArray;
import dev.interlock.internal.Names;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.redis.UnlockChannels;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The command that asks for a session's tickets, or asks how they stand. Tickets get their sequences when they are
 * first sent. There is one command at a time, and tickets that come meanwhile share the next: so sequences reach Redis
 * in their order, and a cancel never overtakes the command that announces its ticket.
 *
 * <p>The owner calls it with the mutex held, as it calls its {@link CommandLoop}.
 */
final class TicketRequest implements CommandLoop.Speaker<TicketRequest.Answer> {
    /** After so long without word a waiting thread asks by itself, should the pulse have failed to. */
    static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

    /**
     * What was sent, and when.
     *
     * @param tickets those asked for
     * @param sequences what these had then; a ticket that is over gets another one
     * @param used those that Redis was told of
     * @param nanos when
     */
    record Sent(List<Ticket> tickets, ImmutableLongArray sequences, List<Ticket> used, long nanos) {}

    /** What was sent, and the reply. */
    record Answer(Sent sent, AcquireReply reply) {}

    private static final Logger log = LoggerFactory.getLogger(TicketRequest.class);

    private final LockMonitor.Shared shared;
    private final RedisSession session;
    private final LockScripts scripts;
    private final LockState state;
    private final Runnable pulse;
    private final CommandLoop<Answer> loop;
    private final ConditionQueue conditions;
    private final Ownership ownership;

    /** Redisson's channel, while the owner of the name is none of ours. */
    private UnlockChannels.@Nullable Subscription subscription;

    /** Whether the next command asks for all tickets. */
    private boolean isComplete;

    /** Whether a grant has to be confirmed as soon as the command in flight has been answered. */
    private boolean isUnconfirmed;

    private long pollAtNanos;

    /** Tickets served on the tenure of another one, of which Redis doesn't know yet. */
    private final List<Ticket> used = new ArrayList<>();

    /** Tickets to be cancelled once the command that announces them has been answered. */
    private final List<Ticket> leaving = new ArrayList<>();

    /**
     * Creates it, without tickets.
     *
     * @param pulse asks how they stand, without the mutex
     */
    TicketRequest(LockMonitor.Shared shared, Runnable pulse) {
        this.shared = shared;
        this.session = shared.session();
        this.scripts = shared.scripts();
        this.state = shared.state();
        this.pulse = pulse;
        this.loop = new CommandLoop<>(session, shared.mutex(), this);
        this.conditions = new ConditionQueue(shared, this);
        this.ownership = new Ownership(shared, this, conditions);
    }

    ConditionQueue conditions() {
        return conditions;
    }

    Ownership ownership() {
        return ownership;
    }

    boolean inFlight() {
        return loop.isInFlight();
    }

    /** Returns whether a command is in flight whose answer may come any moment. */
    boolean isAnswerDue(long now) {
        return loop.isInFlight() && !loop.isSilent(now);
    }

    /** Returns whether it is time to ask again. */
    boolean isDue(long now) {
        return now - pollAtNanos >= 0 || loop.isSilent(now);
    }

    /** Returns when it will be, unless there is an answer before. */
    long dueNanos() {
        return loop.isInFlight() ? loop.repeatAtNanos() : pollAtNanos;
    }

    /** Adds to what Redis is told of with the next command. */
    void used(Ticket ticket) {
        used.add(ticket);
    }

    /** Returns what Redis doesn't know to be used, and forgets it. */
    List<Ticket> drainUsed() {
        List<Ticket> drained = List.copyOf(used);
        used.clear();
        return drained;
    }

    /** Asks for all that isn't granted. */
    void ask(long now) {
        if (!due(true).isEmpty()) {
            isComplete = true;
            loop.send(now);
        }
    }

    /** Asks for what was not asked for yet. How the rest stands is for the pulse to ask. */
    private void askForNew(long now) {
        if (!due(false).isEmpty()) {
            loop.send(now);
        }
    }

    /** Asks for all, as soon as the command in flight has been answered. */
    void confirmLater() {
        isUnconfirmed = true;
    }

    private List<Ticket> due(boolean all) {
        LockTenure current = state.tenure();
        return all ? state.tickets.all(current) : state.tickets.arriving(current);
    }

    // ---- tickets

    /** Returns the ticket of a thread of a fair lock, a new one if it has none. */
    Ticket placeOf(Thread thread, long leaseMillis, long now) {
        Ticket place = state.tickets.of(thread);
        if (place == null) {
            place = state.newTicket(leaseMillis, true, false, now);
            place.thread = thread;
            open(place, now);
        }
        return place;
    }

    /** Asks for the name. */
    void open(Ticket ticket, long now) {
        state.tickets.add(ticket);
        session.pin(scripts.key(), shared.owner());
        if (session.isClosed()) {
            // It may have missed this participant.
            state.tickets.remove(ticket);
            releaseContinued(ticket);
            settle();
            session.ensureOpen();
        }
        askForUnsent(ticket.queues, now);
    }

    /** Asks for tickets that were not sent. If a command is in flight, its answer has that done. */
    void askForUnsent(boolean queues, long now) {
        if (loop.isInFlight() || !state.tickets.hasUnsent()) {
            return;
        }
        if (!queues || state.notBeforeNanos - now <= 0) {
            askForNew(now);
        } else {
            pollAtNanos = state.notBeforeNanos;
        }
    }

    /** Cancels a ticket. */
    void withdraw(Ticket ticket) {
        if (!state.tickets.contains(ticket)) {
            return;
        }
        state.tickets.remove(ticket);
        if (ticket.sequence != 0 && !state.isTenure(ticket.sequence)) {
            cancel(ticket);
        }
        releaseContinued(ticket);
        settle();
    }

    private void cancel(Ticket ticket) {
        if (state.fair && loop.isInFlight()) {
            leaving.add(ticket);
        } else {
            release(ticket).insist();
            if (!state.fair) {
                // The next request may overtake that, and mustn't find the name in use by what is given up.
                used(ticket);
            }
        }
    }

    /** Releases what a ticket was to continue: its request may not have got through. */
    void releaseContinued(Ticket ticket) {
        if (ticket.from != 0) {
            Ticket continued = new Ticket(ticket.leaseMillis, ticket.renewed, true, false, session.now());
            continued.sequence = ticket.from;
            release(continued).insist();
            conditions.abandonOperations();
        }
    }

    private ReliableRelease release(Ticket ticket) {
        return release(ticket, Operations.NONE);
    }

    /** Releases what a ticket has got, or cancels it. */
    ReliableRelease release(Ticket ticket, Operations operations) {
        return ReliableRelease.of(session, scripts, ticket, List.of(), operations, state.floor(), false);
    }

    /** Gives back what the session has got by a sequence that nobody wants. */
    void giveBack(long sequence, long waiter, Operations operations) {
        state.renounced = sequence;
        ReliableRelease.giveBack(session, scripts, sequence, waiter, operations, state.floor());
    }

    /** Releases all tickets, because the session is closed. */
    List<CompletableFuture<?>> close() {
        leaving.addAll(state.tickets.clear());
        List<CompletableFuture<?>> releases = new ArrayList<>();
        for (Ticket ticket : leaving) {
            if (ticket.sequence != 0) {
                Operations operations = ticket.waiter > 0 ? Operations.SIGNAL_ALL : Operations.NONE;
                releases.add(release(ticket, operations).confirmed());
            }
            releaseContinued(ticket);
        }
        return releases;
    }

    // ---- the tickets of waiters

    /** Takes over the ticket that a waiter has got in the queue. */
    void adopt(ConditionWaiter waiter, long sequence, long number) {
        Ticket other = state.ticket();
        if (state.tickets.of(sequence) != null) {
            return;
        }
        Ticket ticket = state.newTicket(waiter.leaseMillis, true, false, waiter.waitingNanos());
        ticket.sequence = sequence;
        ticket.waiter = number;
        // Redis has said so at some time, but the grant may be older than that.
        ticket.queuedAt(waiter.waitingNanos(), 1);
        if (state.fair) {
            ticket.thread = waiter.thread;
        } else if (state.closed || state.tenure() != null || (other != null && sequence != state.arrivingGrant)) {
            release(ticket).insist();
            return;
        } else if (other != null) {
            withdraw(other);
        }
        state.tickets.addQueued(ticket);
        session.pin(scripts.key(), shared.owner());
    }

    /** Gets a waiter of a fair lock a place in the queue. */
    void place(ConditionWaiter waiter) {
        try {
            if (!state.closed && !session.isClosed()) {
                placeOf(waiter.thread, waiter.leaseMillis, session.now());
            }
        } catch (IllegalStateException e) {
            log.debug("The session of {} is being closed", Names.quoted(scripts.key()), e);
        }
    }

    /** Gives up the ticket of a waiter that this session doesn't know any more. */
    void cancelUnwanted(long sequence, long number, boolean isSignalLost) {
        if (!state.isKnown(sequence)) {
            giveBack(sequence, number, number > 0 && isSignalLost ? Operations.SIGNAL_ALL : Operations.NONE);
        }
    }

    // ---- interest

    /** Ends the session's interest in the name, if there is none any more. */
    void settle() {
        if (state.tenure() == null && state.ticket() == null) {
            listen(false);
            conditions.abandonOperations();
            if (conditions.isIdle() && !conditions.operations().isReleasing()) {
                session.unpin(scripts.key(), shared.owner());
            }
        }
    }

    /** Listens on Redisson's channel, or not. */
    void listen(boolean isForeign) {
        if (isForeign && subscription == null) {
            subscription = session.channels().listen(scripts.channel(), pulse);
        } else if (!isForeign && subscription != null) {
            subscription.close();
            subscription = null;
        }
    }

    // ---- the loop's events

    @Override
    public @Nullable CompletableFuture<Answer> say(long now) {
        List<Ticket> tickets = due(isComplete);
        if (tickets.isEmpty()) {
            return null;
        }
        isComplete = false;
        pollAtNanos = now + POLL_NANOS;
        Ticket first = tickets.get(0);
        boolean isNew = first.sequence == 0;
        for (Ticket ticket : tickets) {
            if (ticket.sequence == 0) {
                ticket.sequence = session.nextSequence();
            }
        }
        ImmutableLongArray sequences =
                ImmutableLongArray.copyOf(tickets.stream().mapToLong(ticket -> ticket.sequence));
        Sent sent = new Sent(tickets, sequences, List.copyOf(used), now);
        // The session may own the name by a sequence of which it doesn't know yet.
        boolean knowsAll = state.tenure() == null
                && conditions.isEmpty()
                && !conditions.operations().isReleasing();
        boolean isLeftAlone = state.fair || !knowsAll;
        long earlier = first.from != 0 ? first.from : isLeftAlone ? LockScripts.LEFT_ALONE : LockScripts.ENDED;
        CompletableFuture<AcquireReply> reply = isNew
                ? scripts.takeOrAcquire(tickets, earlier, state.floor(), sent.used)
                : scripts.acquire(tickets, earlier, state.floor(), sent.used);
        return reply.thenApply(answer -> new Answer(sent, answer));
    }

    @Override
    public void answered(long sentNanos, Answer answer) {
        used.removeAll(answer.sent.used);
        if (sentNanos == loop.sentNanos()) {
            boolean isGranted = answer.reply.status() == LockScripts.Status.GRANTED;
            long ttlNanos = isGranted ? 0 : TimeUnit.MILLISECONDS.toNanos(answer.reply.ttlMillis() + 1);
            pollAtNanos = session.now() + (ttlNanos > 0 ? Math.min(POLL_NANOS, ttlNanos) : POLL_NANOS);
        }
        ownership.answered(answer);
        ended();
        if (!loop.isInFlight() && state.tickets.hasUnsent()) {
            loop.tellLater();
        }
    }

    @Override
    public void failed(Throwable cause) {
        isComplete = true;
    }

    @Override
    public void refused(Throwable cause) {
        if (state.ticket() != null) {
            state.refusal = cause;
        }
    }

    @Override
    public void settled() {
        ended();
    }

    @Override
    public void changed() {
        shared.owner().changed();
    }

    private void ended() {
        if (loop.isInFlight()) {
            return;
        }
        leaving.forEach(ticket -> release(ticket).insist());
        leaving.clear();
        if (isUnconfirmed && state.tenure() == null) {
            isComplete = true;
            loop.tellLater();
        }
        isUnconfirmed = false;
    }
}
