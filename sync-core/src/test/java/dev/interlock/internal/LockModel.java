package dev.interlock.internal;

import dev.interlock.internal.Contender.Request;
import dev.interlock.internal.Contender.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the scripts of a lock should do, without keys, times and numbers: who owns it, who waits, who is over. */
final class LockModel {
    /** So many tickets at most are told to be served on one tenure. */
    private static final int MAX_RUN = 32;

    /** One sequence of one session. */
    record Party(Contender by, long sequence) {
        boolean isSuccessorOf(Party other) {
            return by == other.by && sequence > other.sequence;
        }
    }

    /**
     * How requests stand.
     *
     * @param owner by which the session owns the lock, or 0
     * @param run the end of what is served on that tenure too, or 0
     * @param over those that are over
     */
    record Standing(Status status, long owner, long run, List<Long> over) {}

    /** The highest sequence of a session that has queued or is over, and the highest that was released. */
    private record Mark(long sequence, long released) {}

    private static final Mark NONE = new Mark(0, 0);

    private @Nullable Party owner;
    private final List<Party> queue = new ArrayList<>();
    private final Set<Contender> dead = new HashSet<>();
    private final Map<Contender, Mark> marks = new HashMap<>();

    @Nullable
    Party owner() {
        return owner;
    }

    List<Party> queue() {
        return queue;
    }

    boolean isWaiting(Contender contender) {
        return queue.stream().anyMatch(ticket -> ticket.by == contender);
    }

    boolean isAlive(Contender contender) {
        return !dead.contains(contender);
    }

    Standing acquire(Request request) {
        Contender by = request.by();
        Party first = new Party(by, request.sequence());
        boolean isNew = first.sequence > mark(by).sequence;
        if (isNew && request.sequences().size() == 1 && owner == null && queue.isEmpty()) {
            owner = first;
            return standing(by, Status.GRANTED, List.of());
        }
        boolean freed = use(by, request.used());
        Set<Party> standing = new HashSet<>();
        List<Party> arriving = new ArrayList<>();
        List<Long> over = new ArrayList<>();
        for (long sequence : request.sequences()) {
            Party party = new Party(by, sequence);
            boolean isPast = owner != null && owner.isSuccessorOf(party);
            if (party.equals(owner) || queue.contains(party)) {
                standing.add(party);
            } else if (sequence > mark(by).sequence && !isPast) {
                standing.add(party);
                arriving.add(party);
                marks.put(by, new Mark(sequence, mark(by).released));
            } else {
                over.add(sequence);
            }
        }
        if (standing.isEmpty()) {
            if (freed) {
                grantHead();
            }
            return standing(by, Status.OVER, over);
        }
        if (standing.contains(first) && owner != null && first.isSuccessorOf(owner)) {
            endEarlier(first, owner, request.from());
        }
        if (request.queues()) {
            arriving.remove(owner);
            queue.addAll(arriving);
            if (isWaiting(by) && standing.stream().anyMatch(queue::contains)) {
                dead.remove(by);
            }
        }
        if (owner == null) {
            grantHead();
            owner = owner == null ? first : owner;
        }
        Status status = standing.contains(owner) ? Status.GRANTED : request.queues() ? Status.QUEUED : Status.BUSY;
        return standing(by, status, over);
    }

    // Acquire n+1 implies the release of n, but for a fair lock: there it may continue n, and concerns no other tenure.
    private void endEarlier(Party first, Party tenure, long from) {
        if (from == 0 || from == tenure.sequence) {
            Mark mark = mark(first.by);
            marks.put(first.by, new Mark(mark.sequence, Math.max(mark.released, tenure.sequence)));
            owner = null;
        }
        if (from == tenure.sequence) {
            queue.remove(first);
            owner = first;
        }
    }

    long release(Party caller, List<Long> used) {
        boolean owned = caller.equals(owner);
        Mark mark = mark(caller.by);
        boolean before = mark.released >= caller.sequence;
        marks.put(
                caller.by,
                new Mark(
                        Math.max(mark.sequence, caller.sequence),
                        owned ? Math.max(mark.released, caller.sequence) : mark.released));
        if (owned) {
            owner = null;
        }
        boolean waited = queue.remove(caller);
        boolean freed = use(caller.by, used);
        if (owned || freed) {
            grantHead();
        }
        return owned || (before && !waited) ? Contender.TENURE : waited ? Contender.TICKET : Contender.NOTHING;
    }

    // Returns whether one of those that are used owned the lock.
    private boolean use(Contender by, List<Long> used) {
        boolean freed = false;
        for (long sequence : used) {
            Party party = new Party(by, sequence);
            queue.remove(party);
            if (party.equals(owner)) {
                owner = null;
                freed = true;
            }
        }
        return freed;
    }

    boolean renew(Party caller) {
        return caller.equals(owner);
    }

    void expire() {
        owner = null;
    }

    void die(Contender waiter) {
        dead.add(waiter);
    }

    private void grantHead() {
        while (owner == null && !queue.isEmpty()) {
            Party head = queue.remove(0);
            if (isAlive(head.by)) {
                owner = head;
            }
        }
    }

    private Standing standing(Contender by, Status status, List<Long> over) {
        return owner == null || owner.by != by
                ? new Standing(status, 0, 0, over)
                : new Standing(status, owner.sequence, run(owner), over);
    }

    /** Whether others may stand behind those that are served on the tenure there is, 1 or 0. */
    int behind() {
        List<Party> line = queue.subList(0, Math.min(MAX_RUN, queue.size()));
        return line.size() == MAX_RUN || line.stream().anyMatch(ticket -> owner != null && ticket.by != owner.by)
                ? 1
                : 0;
    }

    private long run(Party tenure) {
        long last = 0;
        for (Party ticket : queue.subList(0, Math.min(MAX_RUN, queue.size()))) {
            if (ticket.by != tenure.by) {
                break;
            }
            last = ticket.sequence;
        }
        return last;
    }

    private Mark mark(Contender contender) {
        return marks.getOrDefault(contender, NONE);
    }
}
