package dev.interlock.simulation;

import dev.interlock.LeaseLostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Sees who is inside one lock, and what its threads wait for, and says when a promise of the library is broken. */
final class LockWitness implements Witness {
    /** Who has called this much earlier comes first, if nothing goes wrong: what commands and messages take. */
    private static final long ORDER_NANOS = 100_000_000;

    /** A thread inside. */
    private static final class Hold {
        final Actor actor;
        final LockSubject lock;
        final long token;

        Hold(Actor actor, LockSubject lock, long token) {
            this.actor = actor;
            this.lock = lock;
            this.token = token;
        }

        @Override
        public String toString() {
            return actor.name() + " with token " + token + " and " + lock;
        }
    }

    /** A thread that waits for a fair lock, without end. */
    private record Arrival(Actor actor, long atNanos) {}

    private final Scheduler scheduler;
    private final Trace trace;
    private final boolean isExclusive;
    private final boolean isInOrder;
    private final List<Hold> holds = new ArrayList<>();
    private final List<Arrival> arrivals = new ArrayList<>();
    private long lastToken;
    private @Nullable Actor lastActor;
    private int items;
    private int takers;
    private long entries;

    /**
     * Creates the witness of a lock.
     *
     * @param isExclusive whether nothing happens that makes Redis forget who owns what
     * @param isInOrder whether threads enter in the order of their calls
     */
    LockWitness(Scheduler scheduler, Trace trace, boolean isExclusive, boolean isInOrder) {
        this.scheduler = scheduler;
        this.trace = trace;
        this.isExclusive = isExclusive;
        this.isInOrder = isInOrder;
    }

    /** A thread begins to wait without end. */
    void called(Actor actor) {
        if (isInOrder) {
            arrivals.add(new Arrival(actor, scheduler.nanos()));
        }
    }

    /** A thread has entered, or still is inside because a wait for a condition has ended before it began. */
    void entered(Actor actor, LockSubject lock) {
        checkOrder(actor);
        long token;
        try {
            token = lock.sync().fencingToken();
        } catch (LeaseLostException e) {
            trace.add(actor.jvm(), "is inside, but has lost it");
            return;
        }
        trace.add(actor.jvm(), "is inside with token %d", token);
        boolean isNew = token > lastToken;
        if (isExclusive && !isNew && !(token == lastToken && actor == lastActor)) {
            throw new Violation(String.format(
                    Locale.ROOT, "%s has token %d after %s had %d", actor.name(), token, name(lastActor), lastToken));
        }
        entries += isNew ? 1 : 0;
        lastToken = token;
        lastActor = actor;
        holds.add(new Hold(actor, lock, token));
        check();
    }

    private static String name(@Nullable Actor actor) {
        return actor == null ? "nobody" : actor.name();
    }

    private void checkOrder(Actor actor) {
        Arrival own = arrivals.stream()
                .filter(arrival -> arrival.actor == actor)
                .findFirst()
                .orElse(null);
        if (own == null) {
            return;
        }
        arrivals.remove(own);
        for (Arrival other : arrivals) {
            if (own.atNanos - other.atNanos > ORDER_NANOS) {
                throw new Violation(String.format(
                        Locale.ROOT,
                        "%s has entered a fair lock before %s, which called %d ms before",
                        actor.name(),
                        other.actor.name(),
                        (own.atNanos - other.atNanos) / 1_000_000));
            }
        }
    }

    /** A thread is about to leave. */
    void leaves(Actor actor) {
        check();
        holds.removeIf(hold -> hold.actor == actor);
        arrivals.removeIf(arrival -> arrival.actor == actor);
    }

    @Override
    public void ended(Actor actor) {
        holds.removeIf(hold -> hold.actor == actor);
        arrivals.removeIf(arrival -> arrival.actor == actor);
    }

    /** Looks whether more than one session believes that it owns the name while a thread of it is inside. */
    void check() {
        if (!isExclusive) {
            return;
        }
        Hold valid = null;
        for (Hold hold : holds) {
            if (hold.actor.jvm().isDead() || !hold.lock.isValid()) {
                continue;
            }
            if (valid != null) {
                throw new Violation("Two are inside: " + valid + ", " + hold);
            }
            valid = hold;
        }
    }

    @Override
    public long entries() {
        return entries;
    }

    // ---- what threads wait for

    void put() {
        items++;
    }

    boolean take() {
        if (items > 0) {
            items--;
            return true;
        }
        return false;
    }

    void beginsToTake() {
        takers++;
    }

    void endsTaking() {
        takers--;
    }

    // An item and a signal for each that waits for one, but no signal for items that are there already.
    @Override
    public List<Op> rescue(int subject) {
        return Collections.nCopies(Math.max(0, takers - items), new Op(Call.PUT, subject, 0, 0, 0));
    }
}
