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

    /** One sequence of one session. */
    record Party(Contender by, long sequence) {
        boolean isSuccessorOf(Party other) {
            return by == other.by && sequence > other.sequence;
        }
    }

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

    Status acquire(Request request) {
        Party caller = new Party(request.by(), request.sequence());
        if (caller.equals(owner)) {
            return Status.GRANTED;
        }
        boolean isNew = caller.sequence > mark(caller.by).sequence;
        if (isNew && owner == null && queue.isEmpty()) {
            owner = caller;
            return Status.GRANTED;
        }
        boolean isPast = owner != null && owner.isSuccessorOf(caller);
        if (isPast || (!isNew && !queue.contains(caller))) {
            return Status.OVER;
        }
        if (isNew) {
            marks.put(caller.by, new Mark(caller.sequence, mark(caller.by).released));
        }
        boolean mayEnd = owner != null && (request.from() == 0 || request.from() == owner.sequence);
        if (owner != null && mayEnd && caller.isSuccessorOf(owner)) {
            Mark mark = mark(caller.by);
            marks.put(caller.by, new Mark(mark.sequence, Math.max(mark.released, owner.sequence)));
            if (owner.sequence == request.from()) {
                queue.remove(caller);
                owner = caller;
                return Status.GRANTED;
            }
            owner = null;
        }
        if (request.queues()) {
            dead.remove(caller.by);
            if (isNew) {
                queue.add(caller);
            }
        }
        if (owner == null) {
            grantHead();
            owner = owner == null ? caller : owner;
        }
        return caller.equals(owner) ? Status.GRANTED : request.queues() ? Status.QUEUED : Status.BUSY;
    }

    long release(Party caller) {
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
            grantHead();
            return Contender.TENURE;
        }
        return queue.remove(caller) ? Contender.TICKET : before ? Contender.TENURE : Contender.NOTHING;
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

    private Mark mark(Contender contender) {
        return marks.getOrDefault(contender, NONE);
    }
}
