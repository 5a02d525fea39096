package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.script.Answer.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the scripts of a lock should do, without keys, times and numbers: who owns or shares it, who waits, who is over.
 */
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

    /** Those who share the lock, some of whom have no lease any more, but were not found out yet. */
    private final Map<Contender, Long> readers = new HashMap<>();

    private final Set<Contender> lapsed = new HashSet<>();
    private final List<Party> queue = new ArrayList<>();
    private final Set<Party> reading = new HashSet<>();
    private final Set<Contender> dead = new HashSet<>();
    private final Map<Contender, Mark> marks = new HashMap<>();

    @Nullable
    Party owner() {
        return owner;
    }

    Map<Contender, Long> readers() {
        return readers;
    }

    /** Those who may rely on the lock. */
    Set<Party> holders() {
        Set<Party> holders = new HashSet<>();
        readers.forEach((by, sequence) -> {
            if (!lapsed.contains(by)) {
                holders.add(new Party(by, sequence));
            }
        });
        if (owner != null) {
            holders.add(owner);
        }
        return holders;
    }

    List<Party> queue() {
        return queue;
    }

    boolean isReading(Party ticket) {
        return reading.contains(ticket);
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
        if (request.reads()) {
            reading.add(first);
        }
        if (isNew && request.sequences().size() == 1 && isFree() && queue.isEmpty()) {
            give(first);
            return standing(by, Status.GRANTED, List.of());
        }
        forgetLapsed();
        boolean freed = use(by, request.used());
        Party tenure = tenure(by);
        Set<Party> standing = new HashSet<>();
        List<Party> arriving = new ArrayList<>();
        List<Long> over = sort(request, tenure, standing, arriving);
        if (standing.isEmpty()) {
            if (freed) {
                grantHead();
            }
            return standing(by, Status.OVER, over);
        }
        boolean isPoll = arriving.isEmpty() && standing.stream().anyMatch(queue::contains);
        if (standing.contains(first) && tenure != null && first.isSuccessorOf(tenure)) {
            endEarlier(first, tenure, request.from());
        }
        if (request.queues()) {
            arriving.remove(tenure(by));
            queue.addAll(arriving);
            if (standing.stream().anyMatch(queue::contains)) {
                dead.remove(by);
            }
        }
        grant(request, first, isPoll);
        boolean isGranted = standing.contains(tenure(by));
        return standing(by, isGranted ? Status.GRANTED : request.queues() ? Status.QUEUED : Status.BUSY, over);
    }

    /** Adds those that are granted, queued or new to {@code standing}, the new ones also to {@code arriving}. */
    private List<Long> sort(Request request, @Nullable Party tenure, Set<Party> standing, List<Party> arriving) {
        Contender by = request.by();
        List<Long> over = new ArrayList<>();
        for (long sequence : request.sequences()) {
            Party party = new Party(by, sequence);
            boolean isPast = tenure != null && tenure.isSuccessorOf(party);
            if (party.equals(tenure) || queue.contains(party)) {
                standing.add(party);
            } else if (sequence > mark(by).sequence && !isPast) {
                standing.add(party);
                arriving.add(party);
                marks.put(by, new Mark(sequence, mark(by).released));
            } else {
                over.add(sequence);
            }
        }
        return over;
    }

    private void grant(Request request, Party first, boolean isPoll) {
        if (isFree()) {
            grantHead();
            if (isFree()) {
                give(first);
            }
        } else if (isShared() && (request.reads() || (isPoll && request.queues()))) {
            grantHead();
        }
        if (isShared() && request.reads() && !request.queues() && queue.isEmpty() && tenure(first.by) == null) {
            give(first);
        }
    }

    // Acquire n+1 implies the release of n, but for a fair lock: there it may continue n, and concerns no other tenure.
    // What is continued for writing can't be a share.
    private void endEarlier(Party first, Party tenure, long from) {
        boolean continues = from == tenure.sequence && (reading.contains(first) || tenure.equals(owner));
        if (from == 0 || from == tenure.sequence) {
            Mark mark = mark(first.by);
            marks.put(first.by, new Mark(mark.sequence, Math.max(mark.released, tenure.sequence)));
            leave(tenure);
        }
        if (continues) {
            queue.remove(first);
            give(first);
        }
    }

    private boolean isFree() {
        return owner == null && readers.isEmpty();
    }

    private boolean isShared() {
        return !readers.isEmpty();
    }

    private @Nullable Party tenure(Contender by) {
        Long shares = readers.get(by);
        return shares != null ? new Party(by, shares) : owner != null && owner.by == by ? owner : null;
    }

    private void give(Party party) {
        if (reading.contains(party)) {
            readers.put(party.by, party.sequence);
            lapsed.remove(party.by);
        } else {
            owner = party;
        }
    }

    private boolean leave(Party party) {
        if (!party.equals(tenure(party.by))) {
            return false;
        }
        owner = party.equals(owner) ? null : owner;
        readers.remove(party.by);
        lapsed.remove(party.by);
        return true;
    }

    private void forgetLapsed() {
        readers.keySet().removeAll(lapsed);
        lapsed.clear();
    }

    long release(Party caller, List<Long> used) {
        boolean wasShared = isShared();
        boolean held = leave(caller);
        Mark mark = mark(caller.by);
        boolean before = mark.released >= caller.sequence;
        marks.put(
                caller.by,
                new Mark(
                        Math.max(mark.sequence, caller.sequence),
                        held ? Math.max(mark.released, caller.sequence) : mark.released));
        boolean waited = !held && queue.remove(caller);
        boolean freed = use(caller.by, used);
        boolean isReaders = wasShared && (held || waited);
        if (isReaders && !queue.isEmpty()) {
            forgetLapsed();
        }
        if (freed || (held && isFree()) || (isReaders && isShared())) {
            grantHead();
        }
        return held || (before && !waited) ? Contender.TENURE : waited ? Contender.TICKET : Contender.NOTHING;
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
        return holders().contains(caller);
    }

    /** What reads by now, or is lost but was not found out yet, was downgraded before or has nothing to give up. */
    boolean downgrade(Party caller) {
        if (caller.equals(owner)) {
            owner = null;
            readers.put(caller.by, caller.sequence);
            grantHead();
            return true;
        }
        return isShared() && caller.equals(tenure(caller.by));
    }

    /** The leases of all who have the lock are over. */
    void expire() {
        owner = null;
        readers.clear();
        lapsed.clear();
    }

    /** The lease of a reader is over, while others may live on. */
    void lapse(Contender reader) {
        lapsed.add(reader);
    }

    void die(Contender waiter) {
        dead.add(waiter);
    }

    private void grantHead() {
        while (owner == null && !queue.isEmpty()) {
            Party head = queue.get(0);
            boolean joins = reading.contains(head) && tenure(head.by) == null;
            if (isAlive(head.by) && isShared() && !joins) {
                break;
            }
            queue.remove(0);
            if (isAlive(head.by)) {
                give(head);
            }
        }
    }

    private Standing standing(Contender by, Status status, List<Long> over) {
        Party tenure = tenure(by);
        return tenure == null
                ? new Standing(status, 0, 0, over)
                : new Standing(status, tenure.sequence, run(tenure), over);
    }

    /** Whether others may stand behind those that are served on the tenure that a session has, 1 or 0. */
    int behind(Contender by) {
        List<Party> line = queue.subList(0, Math.min(MAX_RUN, queue.size()));
        return line.size() == MAX_RUN || line.stream().anyMatch(ticket -> ticket.by != by) ? 1 : 0;
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
