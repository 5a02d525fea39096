package dev.interlock.internal.lock.script;

import com.google.common.primitives.ImmutableLongArray;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The command that asks for a session's tickets, or asks how they stand. Tickets get their sequences when they are first
 * sent. There is one command at a time, and tickets that come meanwhile share the next: so sequences reach Redis in
 * their order, and a cancel never overtakes the command that announces its ticket.
 *
 * <p>Guarded by the mutex of its owner, like its {@link CommandLoop}.
 */
final class TicketRequest implements CommandLoop.Speaker<TicketRequest.Answer> {
    /** After so long without word a waiting thread asks by itself, should the pulse have failed to. */
    static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

    /** What decides what to ask for, and takes the answers. All but {@link #changed} runs with the mutex held. */
    interface Asker {
        /**
         * Returns the tickets to ask for.
         *
         * @param isComplete whether these are all, or only those of which Redis may not know
         */
        List<Ticket> due(boolean isComplete);

        /** Returns the least remote part of the next fencing token. */
        long floor();

        /** Returns whether this session can't own the name by a sequence of which it doesn't know yet. */
        boolean knowsAll();

        /** Takes the answer. */
        void answered(Sent sent, AcquireReply reply);

        /** Takes a failure that no repetition will mend. */
        void refused(Throwable cause);

        /** Cancels a ticket of which Redis has heard. */
        void cancel(Ticket ticket);

        /** Returns whether the tickets are still to be asked for after an unconfirmed grant. */
        boolean isConfirmationDue();

        /** Returns whether there are tickets that were not sent. */
        boolean hasUnsent();

        /** The end of each of these events, without the mutex. */
        void changed();
    }

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

    private final RedisSession session;
    private final LockScripts scripts;
    private final boolean fair;
    private final Asker asker;
    private final CommandLoop<Answer> loop;

    /** Whether the next command asks for all tickets. */
    private boolean isComplete;

    /** Whether a grant has to be confirmed as soon as the command in flight has been answered. */
    private boolean isUnconfirmed;

    private long pollAtNanos;

    /** Tickets served on the tenure of another one, of which Redis doesn't know yet. */
    private final List<Ticket> used = new ArrayList<>();

    /** Tickets to be cancelled once the command that announces them has been answered. */
    private final List<Ticket> leaving = new ArrayList<>();

    TicketRequest(RedisSession session, ReentrantLock mutex, LockScripts scripts, boolean fair, Asker asker) {
        this.session = session;
        this.scripts = scripts;
        this.fair = fair;
        this.asker = asker;
        this.loop = new CommandLoop<>(session, mutex, this);
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

    /** Sets the time to ask again. */
    void dueAt(long nanos) {
        pollAtNanos = nanos;
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

    /** Cancels a ticket as soon as the command in flight has been answered. */
    void cancelLater(Ticket ticket) {
        leaving.add(ticket);
    }

    /** Returns the tickets that are yet to be cancelled. */
    List<Ticket> leaving() {
        return List.copyOf(leaving);
    }

    /** Asks for all that isn't granted. */
    void ask(long now) {
        if (!asker.due(true).isEmpty()) {
            isComplete = true;
            loop.send(now);
        }
    }

    /** Asks for what was not asked for yet. How the rest stands is for the pulse to ask. */
    void askForNew(long now) {
        if (!asker.due(false).isEmpty()) {
            loop.send(now);
        }
    }

    /** Asks for all, as soon as the command in flight has been answered. */
    void confirmLater() {
        isUnconfirmed = true;
    }

    // ---- the loop's events

    @Override
    public @Nullable CompletableFuture<Answer> say(long now) {
        List<Ticket> tickets = asker.due(isComplete);
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
        boolean isLeftAlone = fair || !asker.knowsAll();
        long earlier = first.from != 0 ? first.from : isLeftAlone ? LockScripts.LEFT_ALONE : LockScripts.ENDED;
        CompletableFuture<AcquireReply> reply = isNew
                ? scripts.takeOrAcquire(tickets, earlier, asker.floor(), sent.used)
                : scripts.acquire(tickets, earlier, asker.floor(), sent.used);
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
        asker.answered(answer.sent, answer.reply);
        ended();
        if (!loop.isInFlight() && asker.hasUnsent()) {
            loop.tellLater();
        }
    }

    @Override
    public void failed(Throwable cause) {
        isComplete = true;
    }

    @Override
    public void refused(Throwable cause) {
        asker.refused(cause);
    }

    @Override
    public void settled() {
        ended();
    }

    @Override
    public void changed() {
        asker.changed();
    }

    private void ended() {
        if (loop.isInFlight()) {
            return;
        }
        leaving.forEach(asker::cancel);
        leaving.clear();
        if (isUnconfirmed && asker.isConfirmationDue()) {
            isComplete = true;
            loop.tellLater();
        }
        isUnconfirmed = false;
    }
}
