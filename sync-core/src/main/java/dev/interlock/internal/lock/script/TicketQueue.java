package dev.interlock.internal.lock.script;

import com.google.common.primitives.ImmutableLongArray;
import dev.interlock.internal.lock.script.LockEffect.GiveUp;
import dev.interlock.internal.lock.script.LockEffect.Plain;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.Release;
import dev.interlock.internal.lock.script.LockScripts.Request;
import dev.interlock.internal.lock.script.LockScripts.Status;
import dev.interlock.internal.session.Effects;
import dev.interlock.internal.session.Pace;
import dev.interlock.internal.session.Session;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The tickets of a session for a name, in the order in which they are sent, and what is to be said of them. There is
 * one command at a time, and tickets that come meanwhile share the next: so sequences reach Redis in their order, and a
 * cancel never overtakes the command that announces its ticket.
 *
 * <p>A session of a plain lock has one ticket, on behalf of whichever of its threads is in front. Those of a fair lock
 * belong to threads, one each. But a grant is served to the thread that is in front, and that need not be the one whose
 * ticket is the oldest: these two then swap theirs, so that there are always as many tickets as threads.
 */
final class TicketQueue {
    /**
     * After so long without word a thread that waits for a condition asks by itself, should the pulse have failed to.
     */
    static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

    /** So many go with a command at most, so that its time doesn't grow with the number of threads that wait. */
    static final int MOST_ASKED = 100;

    private final LockView view;
    private final Pace pace;
    private final Effects<LockEffect> effects;
    private List<Ticket> standing = Collections.emptyList();
    private final Map<Thread, Ticket> byThread;

    /** Those served on the tenure of another one, of which Redis doesn't know yet. */
    private List<Ticket> used = Collections.emptyList();

    /** Those to be cancelled once the command that announces them has been answered. */
    List<Ticket> leaving;

    /** Whether the next command also asks for tickets that are known to stand in the queue. */
    boolean asksAgain;

    /** The last of these that such a command asked for, 0 if there were no more. */
    private long askedUpTo;

    /** Whether a grant has to be confirmed as soon as the command in flight has been answered. */
    boolean isUnconfirmed;

    /** Before that, plain RLock clients have their turn. */
    long notBeforeNanos;

    /** When to ask again, if there is no answer. */
    private long pollAtNanos;

    /** Whether a command is in flight, or is to be sent by the effects of this event. */
    private boolean isAsking;

    /** If a command is in flight: when it is repeated. Till it is sent that is due. */
    private long repeatAtNanos;

    TicketQueue(LockView view, Pace pace, Effects<LockEffect> effects, long now) {
        this.view = view;
        this.pace = pace;
        this.byThread = view.fair ? new HashMap<>() : Collections.emptyMap();
        this.leaving = view.fair ? new ArrayList<>() : Collections.emptyList();
        this.effects = effects;
        this.notBeforeNanos = now;
        this.pollAtNanos = now;
    }

    // Lists are made when they are needed: a name that is held has no tickets.
    private static List<Ticket> with(List<Ticket> list, int index, Ticket ticket) {
        List<Ticket> changed = list.isEmpty() ? new ArrayList<>(1) : list;
        changed.add(index, ticket);
        return changed;
    }

    @Nullable
    Ticket of(Thread thread) {
        return byThread.get(thread);
    }

    @Nullable
    Ticket of(long sequence) {
        for (Ticket ticket : standing) {
            if (ticket.sequence == sequence) {
                return ticket;
            }
        }
        return null;
    }

    /** Returns the sequence of the ticket with which a thread waits, or 0. */
    long sequenceOf(Thread thread) {
        Ticket own = byThread.getOrDefault(thread, view.ticket);
        return own == null ? 0 : own.sequence;
    }

    /** Adds a ticket behind the others; one that continues a tenure in front of them, as its thread does. */
    void add(Ticket ticket) {
        insert(ticket.from == 0 ? standing.size() : 0, ticket);
    }

    /** Adds a ticket that stands in the queue already. */
    void addQueued(Ticket ticket) {
        int index = 0;
        while (index < standing.size()
                && standing.get(index).sequence != 0
                && standing.get(index).sequence < ticket.sequence) {
            index++;
        }
        insert(index, ticket);
    }

    private void insert(int index, Ticket ticket) {
        standing = with(standing, index, ticket);
        if (ticket.thread != null) {
            byThread.put(ticket.thread, ticket);
        }
        changed();
    }

    /** Returns whether it was there. */
    boolean remove(Ticket ticket) {
        boolean isThere = standing.remove(ticket);
        if (ticket.thread != null) {
            byThread.remove(ticket.thread, ticket);
        }
        changed();
        return isThere;
    }

    /** A ticket is over: a thread's is sent anew, behind all others. */
    void drop(Ticket ticket) {
        if (ticket.thread == null) {
            remove(ticket);
        } else {
            standing.remove(ticket);
            add(ticket.again());
        }
    }

    /** Has the tickets of threads sent anew that stand before one that has been granted: in Redis they are over. */
    void dropBefore(Ticket granted) {
        Ticket front = view.ticket;
        while (front != null && front.thread != null && front.sequence != 0 && front.sequence < granted.sequence) {
            drop(front);
            front = view.ticket;
        }
    }

    /**
     * Removes the oldest ticket on behalf of a thread, whose own one goes to the thread that had it. The thread in
     * front has the local half and is served first, whichever thread's ticket is the oldest.
     */
    void serve(Thread thread, LockTenure current) {
        Ticket served = standing.get(0);
        Ticket own = byThread.remove(thread);
        Thread waiting = served.thread;
        if (own != null && own != served && waiting != null) {
            own.thread = waiting;
            byThread.put(waiting, own);
        }
        standing.remove(0);
        changed();
        if (served.sequence != current.sequence) {
            use(served);
        }
    }

    /** Has the next command tell that this one is used. */
    void use(Ticket ticket) {
        used = with(used, used.size(), ticket);
    }

    // ---- what is to be said

    /** Asks for what isn't granted. */
    void ask(long now) {
        ask(Plain.ASK, now);
    }

    private void ask(Plain how, long now) {
        if (!asked(true).isEmpty()) {
            asksAgain = true;
            send(how, now);
        }
    }

    private void send(Plain how, long now) {
        if (!isAsking) {
            isAsking = true;
            repeatAtNanos = now;
        }
        effects.add(how);
    }

    /**
     * Asks for tickets that were not sent; how the rest stands is for the pulse to ask. If a command is in flight, its
     * answer has that done.
     */
    void askForUnsent(boolean queues, long now) {
        if (isAsking || !hasUnsent()) {
            return;
        }
        if (view.isReleasing(now)) {
            pollAtNanos = view.releasingUntilNanos();
        } else if (queues && notBeforeNanos - now > 0) {
            pollAtNanos = notBeforeNanos;
        } else if (!asked(false).isEmpty()) {
            send(Plain.ASK, now);
        }
    }

    /**
     * Returns whether the session's pulse is to ask how the tickets stand. Until it has asked for that of a waiter,
     * Redis only knows the session as one that waits for a condition, of which it hears each second.
     */
    boolean isToBeAskedFor(long now) {
        Ticket oldest = view.ticket;
        return oldest != null && (!oldest.isQueued() || oldest.waiter != 0 || pace.isDue(oldest.queuedNanos, now));
    }

    /** Asks how the tickets stand, unless an answer to that may come any moment. */
    void beat(Plain how, long now) {
        Ticket oldest = view.ticket;
        boolean mayAsk = oldest != null && oldest.queues && notBeforeNanos - now <= 0 && !view.isReleasing(now);
        if (mayAsk && !isAnswerDue(now)) {
            ask(how, now);
        }
    }

    /** Returns whether a command is in flight, or about to be sent. */
    boolean isAsking() {
        return isAsking;
    }

    /** Returns whether a command is in flight whose answer may come any moment. */
    boolean isAnswerDue(long now) {
        return isAsking && now - repeatAtNanos < 0;
    }

    /** Returns whether a thread may ask how its ticket stands, instead of waiting for an answer that is due anyway. */
    boolean mayAskFor(Ticket ticket, long now) {
        return !(view.fair && isAsking) && (ticket.sequence != 0 || !view.isReleasing(now));
    }

    /** The next thread asks at once, since what the last command asked for was refused. */
    void askAtOnce(long now) {
        pollAtNanos = now;
    }

    /** Returns whether it is time to ask again. */
    boolean isDue(long now) {
        return now - pollAtNanos >= 0 || (isAsking && !isAnswerDue(now));
    }

    /** Returns for how long a thread may sleep with a ticket before it has to take another step by itself. */
    long untilDue(long now) {
        return Math.max(1, Math.min(pace.pollNanos(), (isAsking ? repeatAtNanos : pollAtNanos) - now));
    }

    /**
     * Returns those to be asked for next: one that can't be sent with others; or of those that aren't granted the
     * oldest and those of which Redis has not said that they are queued.
     *
     * @param again whether also to ask for some of which it has: those in front, and others in turn
     */
    private List<Ticket> asked(boolean again) {
        LockTenure current = view.tenure;
        List<Ticket> asked = new ArrayList<>();
        int left = again ? MOST_ASKED / 2 : 0;
        for (Ticket ticket : standing) {
            if (ticket.from != 0 || !ticket.queues) {
                return List.of(ticket);
            }
            boolean isGranted = current != null && ticket.sequence == current.sequence;
            boolean isNext = ticket.isQueued() && (left > MOST_ASKED / 4 || (left > 0 && ticket.sequence > askedUpTo));
            if (!isGranted && (asked.isEmpty() || !ticket.isQueued() || isNext) && asked.size() < MOST_ASKED) {
                asked.add(ticket);
                left -= isNext ? 1 : 0;
            }
        }
        return asked;
    }

    /** Returns a ticket that was not sent, or null if there is none. */
    @Nullable
    Ticket anyUnsent() {
        for (Ticket ticket : standing) {
            if (ticket.sequence == 0) {
                return ticket;
            }
        }
        return null;
    }

    /** Returns how many sequences the next command needs at most. */
    int unsent() {
        int unsent = 0;
        for (Ticket ticket : standing) {
            unsent += ticket.sequence == 0 ? 1 : 0;
        }
        return Math.min(unsent, MOST_ASKED);
    }

    /**
     * Returns what there is to ask, null if nothing. Tickets get their sequences when they are first sent.
     *
     * @param others what becomes of a tenure that the first ticket doesn't continue
     * @param firstSequence the first of {@link #unsent} sequences that are greater than all before
     * @param repeatAt when the command is repeated, if it has no answer
     */
    @Nullable
    Request request(long others, long firstSequence, long repeatAt, long now) {
        List<Ticket> asked = asked(asksAgain);
        isAsking = !asked.isEmpty();
        repeatAtNanos = repeatAt;
        if (asked.isEmpty()) {
            return null;
        }
        long nextSequence = firstSequence;
        if (asksAgain) {
            List<Ticket> known = asked.stream().filter(Ticket::isQueued).toList();
            askedUpTo = known.size() < MOST_ASKED / 2 ? 0 : known.get(known.size() - 1).sequence;
            asksAgain = false;
        }
        pollAtNanos = now + pace.pollNanos();
        Ticket oldest = asked.get(0);
        boolean isNew = oldest.sequence == 0;
        ImmutableLongArray.Builder sequences = ImmutableLongArray.builder(asked.size());
        for (Ticket ticket : asked) {
            if (ticket.sequence == 0) {
                ticket.sequence = nextSequence;
                nextSequence += Session.SEQUENCE_STEP;
            }
            sequences.add(ticket.sequence);
        }
        long earlier = oldest.from != 0 ? oldest.from : others;
        return new Request(asked, sequences.build(), isNew, earlier, List.copyOf(used), now);
    }

    /** A request was answered: its tickets stand in Redis' queue, or are refused. */
    void answered(Request request, AcquireReply reply, boolean isLatest, long now) {
        used.removeAll(request.used());
        // Others may be over as well.
        asksAgain |= askedUpTo != 0 && !reply.over().isEmpty();
        if (isLatest) {
            long ttlMillis = reply.status() == Status.GRANTED ? -1 : reply.ttlMillis();
            long ttlNanos = TimeUnit.MILLISECONDS.toNanos(ttlMillis + 1);
            long pollNanos = pace.pollNanos();
            pollAtNanos = now + (ttlNanos > 0 ? Math.min(pollNanos, ttlNanos) : pollNanos);
        }
        for (int i = 0; i < request.tickets().size(); i++) {
            Ticket ticket = request.tickets().get(i);
            long sequence = request.sequences().get(i);
            if (ticket.sequence != sequence || sequence == reply.owner()) {
                continue;
            }
            if (reply.status() == Status.BUSY) {
                remove(ticket);
                continue;
            }
            ticket.queuedAt(request.sentNanos(), reply.redisMicros());
            if (ticket.from != 0 && ticket.from == request.earlier() && standing.remove(ticket)) {
                // There was nothing to continue: it has its place by its sequence, like any other.
                ticket.from = 0;
                addQueued(ticket);
            }
        }
    }

    /** No command is in flight any more. */
    void commandEnded() {
        isAsking = false;
    }

    /** The end of an answer, or a failure. */
    void requestEnded() {
        if (isAsking) {
            return;
        }
        leaving.forEach(ticket -> effects.add(new GiveUp(Release.of(ticket, Operations.NONE))));
        leaving.clear();
        asksAgain |= isUnconfirmed && view.tenure == null;
        isUnconfirmed = false;
    }

    /** Returns what Redis doesn't know to be used, and forgets it. */
    List<Ticket> drainUsed() {
        List<Ticket> drained = used;
        used = Collections.emptyList();
        return drained;
    }

    /** Returns whether Redis has said that the thread's ticket stands in the queue, so that a grant will be told. */
    boolean isQueued(Thread thread) {
        Ticket ticket = byThread.get(thread);
        return ticket != null && ticket.isQueued();
    }

    /** Returns whether there is something to ask that the last command didn't. */
    boolean hasMore() {
        return asksAgain || hasUnsent();
    }

    /** Returns whether there are tickets that were not sent: one that continues a tenure is the first, others last. */
    private boolean hasUnsent() {
        int last = standing.size() - 1;
        return last >= 0 && (standing.get(0).sequence == 0 || standing.get(last).sequence == 0);
    }

    /** Forgets all of them. Returns them, and those that are to be cancelled. */
    List<Ticket> clear() {
        leaving = new ArrayList<>(leaving);
        leaving.addAll(standing);
        standing = Collections.emptyList();
        byThread.clear();
        changed();
        return List.copyOf(leaving);
    }

    private void changed() {
        standing = standing.isEmpty() ? Collections.emptyList() : standing;
        view.ticket = standing.isEmpty() ? null : standing.get(0);
    }
}
