package dev.interlock.simulation;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Sees who has permits of one semaphore, and who waits for some. */
final class SemaphoreWitness implements Witness {
    /** A thread that has called this much earlier comes first: what commands and messages take. */
    private static final long ORDER_NANOS = 100_000_000;

    private static final long WAKE_UP_NANOS = 20_000_000;

    /** A session's side of the semaphore. */
    interface Owner {
        /** Returns how many permits are in use that are certainly the session's. */
        long valid();
    }

    /** A thread that has permits. */
    private record Use(Actor actor, Owner semaphore, int permits) {}

    /** A thread that waits, or would if it had to. */
    private record Arrival(Actor actor, long atNanos, boolean waits) {}

    /** The thread of a JVM that has waited longest, since when that is so, and when others have first overtaken it. */
    private static final class Head {
        final Arrival arrival;
        final long sinceNanos;
        final Map<Jvm, Long> overtaken = new LinkedHashMap<>();

        Head(Arrival arrival, long sinceNanos) {
            this.arrival = arrival;
            this.sinceNanos = sinceNanos;
        }
    }

    private final Scheduler scheduler;
    private final Trace trace;
    private final int permits;
    private final boolean isExact;
    private final boolean isInOrder;
    private final long turnNanos;
    private final long leaseNanos;
    private final List<Use> uses = new ArrayList<>();
    private final List<Arrival> arrivals = new ArrayList<>();
    private final Map<Jvm, Head> heads = new LinkedHashMap<>();
    private long entries;

    /**
     * Creates the witness of a semaphore.
     *
     * @param isExact whether nothing happens that makes Redis forget who has which permits
     * @param isInOrder whether JVMs get permits in the order of their threads' calls
     * @param turnNanos for how long a JVM may then serve threads that have called later, 0 for the one that is next:
     *     and then its threads get permits in the order of their calls as well
     */
    SemaphoreWitness(
            Scheduler scheduler,
            Trace trace,
            int permits,
            long leaseNanos,
            boolean isExact,
            boolean isInOrder,
            long turnNanos) {
        this.scheduler = scheduler;
        this.trace = trace;
        this.permits = permits;
        this.leaseNanos = leaseNanos;
        this.isExact = isExact;
        this.isInOrder = isInOrder;
        this.turnNanos = turnNanos;
    }

    /** A thread begins to wait. */
    void called(Worker worker) {
        worker.dependsOnOthers(!isExact);
        arrive(worker.actor(), true);
    }

    /** A thread doesn't wait, and gets nothing before those that do. */
    void calledAtOnce(Worker worker) {
        arrive(worker.actor(), false);
    }

    private void arrive(Actor actor, boolean waits) {
        if (isInOrder) {
            arrivals.add(new Arrival(actor, scheduler.nanos(), waits));
            findHead(actor.jvm());
        }
    }

    private void findHead(Jvm jvm) {
        for (Arrival arrival : arrivals) {
            if (arrival.waits && arrival.actor.jvm() == jvm) {
                Head head = heads.get(jvm);
                if (head == null || !arrival.equals(head.arrival)) {
                    heads.put(jvm, new Head(arrival, scheduler.nanos()));
                }
                return;
            }
        }
        heads.remove(jvm);
    }

    private void forget(Actor actor) {
        if (arrivals.removeIf(arrival -> arrival.actor == actor)) {
            findHead(actor.jvm());
        }
    }

    /** A thread has permits. */
    void acquired(Actor actor, Owner semaphore, int number) {
        trace.add(actor.jvm(), "has %d permits", number);
        checkOrder(actor);
        entries++;
        uses.add(new Use(actor, semaphore, number));
        check();
    }

    private void checkOrder(Actor actor) {
        Arrival own = arrivals.stream()
                .filter(arrival -> arrival.actor == actor)
                .findFirst()
                .orElse(null);
        if (own == null) {
            return;
        }
        forget(actor);
        if (turnNanos > 0) {
            // Its JVM has had its turn, though another thread may be the first there.
            heads.remove(actor.jvm());
            findHead(actor.jvm());
        }
        for (Arrival other : arrivals) {
            if (turnNanos == 0
                    && other.waits
                    && other.actor.jvm() == actor.jvm()
                    && own.atNanos - other.atNanos > ORDER_NANOS) {
                expectSoon(own, other, other.atNanos);
            }
        }
        for (Head head : heads.values()) {
            if (head.arrival.actor.jvm() != actor.jvm() && own.atNanos - head.sinceNanos > ORDER_NANOS) {
                Long first = own.waits ? head.overtaken.putIfAbsent(actor.jvm(), scheduler.nanos()) : Long.valueOf(0);
                if (first != null && scheduler.nanos() - first >= turnNanos) {
                    expectSoon(own, head.arrival, head.sinceNanos);
                }
            }
        }
    }

    // It may have its permits already, and not have woken up.
    private void expectSoon(Arrival own, Arrival other, long sinceNanos) {
        scheduler.after(WAKE_UP_NANOS, () -> {
            if (arrivals.contains(other)) {
                throw overtaken(own, other.actor, sinceNanos);
            }
        });
    }

    private static Violation overtaken(Arrival own, Actor other, long sinceNanos) {
        return new Violation(String.format(
                Locale.ROOT,
                "%s has got permits of a semaphore before %s, which was there %d ms before",
                own.actor.name(),
                other.name(),
                (own.atNanos - sinceNanos) / 1_000_000));
    }

    /** A thread is about to release its permits. */
    void releases(Actor actor) {
        check();
        uses.removeIf(use -> use.actor == actor);
    }

    @Override
    public void ended(Actor actor) {
        uses.removeIf(use -> use.actor == actor);
        forget(actor);
    }

    /** Looks whether sessions believe that they have more permits than there are, which threads use. */
    void check() {
        if (!isExact) {
            return;
        }
        Map<Owner, Long> used = new LinkedHashMap<>();
        for (Use use : uses) {
            if (!use.actor.jvm().isDead() && !use.actor.jvm().isDisoriented()) {
                used.merge(use.semaphore, (long) use.permits, Long::sum);
            }
        }
        long valid = 0;
        for (Map.Entry<Owner, Long> own : used.entrySet()) {
            // A session may have lost some of them; what a thread has just got or is about to release isn't used.
            valid += Math.min(own.getValue(), own.getKey().valid());
        }
        if (valid > permits) {
            throw new Violation("Threads have " + valid + " of " + permits + " permits: " + uses);
        }
    }

    @Override
    public long entries() {
        return entries;
    }

    // What a JVM that has died had comes back by itself, unless Redis has forgotten when its lease is over.
    @Override
    public List<Op> rescue(int subject) {
        return isExact ? List.of() : List.of(new Op(Call.ADD_PERMITS, subject, 0, 0, 0));
    }

    @Override
    public List<Op> finale(int subject) {
        return isExact ? List.of(new Op(Call.ACQUIRE_ALL, subject, 0, 0, 2 * leaseNanos)) : List.of();
    }
}
