package dev.interlock.internal.lock.script;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The tickets of a session for a name, in the order in which they are sent. The owner calls it with the mutex held,
 * except for what is volatile.
 *
 * <p>A session of a plain lock has one ticket, on behalf of whichever of its threads is in front. Those of a fair lock
 * belong to threads, one each. But a grant is served to the thread that is in front, and that need not be the one whose
 * ticket is the oldest: these two then swap theirs, so that there are always as many tickets as threads.
 */
final class TicketQueue {
    private final List<Ticket> standing = new ArrayList<>();
    private final Map<Thread, Ticket> byThread = new HashMap<>();

    /** Read without the mutex, too. */
    private volatile @Nullable Ticket first;

    /** Returns the oldest ticket. */
    @Nullable
    Ticket first() {
        return first;
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

    boolean contains(Ticket ticket) {
        return standing.contains(ticket);
    }

    /**
     * Adds a ticket behind the others; one that continues a tenure in front of them, for so does the thread it belongs
     * to.
     */
    void add(Ticket ticket) {
        standing.add(ticket.from == 0 ? standing.size() : 0, ticket);
        if (ticket.thread != null) {
            byThread.put(ticket.thread, ticket);
        }
        changed();
    }

    /** There was nothing to continue: the ticket has its place in the queue by its sequence, like any other. */
    void queue(Ticket ticket) {
        ticket.from = 0;
        standing.remove(ticket);
        addQueued(ticket);
    }

    /** Adds a ticket that stands in the queue already. */
    void addQueued(Ticket ticket) {
        if (ticket.thread != null) {
            byThread.put(ticket.thread, ticket);
        }
        int index = 0;
        while (index < standing.size()
                && standing.get(index).sequence != 0
                && standing.get(index).sequence < ticket.sequence) {
            index++;
        }
        standing.add(index, ticket);
        changed();
    }

    void remove(Ticket ticket) {
        standing.remove(ticket);
        if (ticket.thread != null) {
            byThread.remove(ticket.thread, ticket);
        }
        changed();
    }

    /** Has a ticket that is over sent anew, behind all others. */
    void renew(Ticket ticket) {
        standing.remove(ticket);
        ticket.renew();
        standing.add(ticket);
        changed();
    }

    /** Has the tickets of threads sent anew that stand before one that has been granted: in Redis they are over. */
    void renewBefore(Ticket granted) {
        Ticket front = standing.get(0);
        while (front.thread != null && front.sequence != 0 && front.sequence < granted.sequence) {
            renew(front);
            front = standing.get(0);
        }
    }

    /** Removes the oldest ticket on behalf of a thread, whose own one goes to the thread that had it. */
    Ticket serve(Thread thread) {
        Ticket served = standing.get(0);
        Ticket own = byThread.remove(thread);
        Thread waiting = served.thread;
        if (own != null && own != served && waiting != null) {
            own.thread = waiting;
            byThread.put(waiting, own);
        }
        standing.remove(0);
        changed();
        return served;
    }

    /**
     * Returns those to be sent next: one that can't be sent with others; or the oldest and those of which Redis has not
     * said that they are queued.
     *
     * @param tenure what the oldest ones may be granted as already
     */
    List<Ticket> arriving(@Nullable LockTenure tenure) {
        List<Ticket> all = all(tenure);
        List<Ticket> arriving = new ArrayList<>();
        for (Ticket ticket : all) {
            if (arriving.isEmpty() || !ticket.isQueued()) {
                arriving.add(ticket);
            }
        }
        return arriving;
    }

    /** Returns one that can't be sent with others; or all that aren't granted. */
    List<Ticket> all(@Nullable LockTenure tenure) {
        List<Ticket> all = new ArrayList<>(standing.size());
        for (Ticket ticket : standing) {
            if (ticket.from != 0 || !ticket.queues) {
                return List.of(ticket);
            }
            if (tenure == null || ticket.sequence != tenure.sequence) {
                all.add(ticket);
            }
        }
        return all;
    }

    /** Returns whether there are tickets that were not sent: one that continues a tenure is the first, others last. */
    boolean hasUnsent() {
        int last = standing.size() - 1;
        return last >= 0 && (standing.get(0).sequence == 0 || standing.get(last).sequence == 0);
    }

    /** Returns all of them and forgets them. */
    List<Ticket> clear() {
        List<Ticket> all = List.copyOf(standing);
        standing.clear();
        byThread.clear();
        changed();
        return all;
    }

    private void changed() {
        first = standing.isEmpty() ? null : standing.get(0);
    }
}
