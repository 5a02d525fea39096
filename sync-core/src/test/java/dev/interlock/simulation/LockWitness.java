package dev.interlock.simulation;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.lock.Tenure;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sees who is inside one lock, and what its threads wait for, and says when a promise of the library is broken. */
final class LockWitness implements Witness {
    /** The token of a thread that only reads. */
    private static final long READS = 0;

    /** What tokens of one tenure differ in, see {@link dev.interlock.internal.lock.FencingTokens}. */
    private static final int LOCAL_BITS = 14;

    /** A thread inside. */
    private static final class Hold {
        final Actor actor;
        final Owned lock;
        final long token;
        final @Nullable Tenure tenure;
        boolean isAbandoned;

        /** When the thread last asked whether it has lost the lock, and hadn't. */
        long askedNanos;

        Hold(Actor actor, Owned lock, long token) {
            this.actor = actor;
            this.lock = lock;
            this.token = token;
            this.tenure = lock.valid();
        }

        boolean reads() {
            return token == READS;
        }

        boolean isValid() {
            boolean isKnown = !actor.jvm().isDisoriented()
                    || askedNanos == actor.jvm().scheduler().nanos();
            return tenure != null && isKnown && !actor.jvm().isDead() && lock.valid() == tenure;
        }

        boolean excludes(Hold other) {
            return other != this && !reads() && (!other.reads() || other.actor != actor);
        }

        @Override
        public String toString() {
            return actor.name() + (reads() ? ", which reads, with " : " with token " + token + " and ") + lock;
        }
    }

    private final Trace trace;
    private final boolean isExclusive;
    private final EntryOrder order;
    private final Turns turns;
    private final boolean isPunctual;
    private final boolean hasOwnTokens;
    private final @Nullable Standstill standstill;

    /** The threads that have called, and are not back. */
    private final Set<Actor> callers = new LinkedHashSet<>();

    /** The only one of them, if it has been that since it called. */
    private @Nullable Actor alone;

    private final List<Hold> holds = new ArrayList<>();

    /** The tenures that were entered, by what their tokens begin with. */
    private final Map<Long, Tenure> tenures = new HashMap<>();

    private long lastToken;
    private @Nullable Actor lastActor;
    private int items;
    private int takers;
    private long entries;
    private boolean isAbandoned;

    /**
     * Creates the witness of a lock.
     *
     * @param isExclusive whether nothing happens that makes Redis forget who owns what
     * @param isPunctual whether nothing delays what sessions tell each other
     * @param hasOwnTokens whether no two tenures have the same tokens, whatever happens
     * @param order the order that is promised to threads that wait
     * @param turns the turns that are promised to sessions
     * @param standstill makes what sees whether they wait in vain, if anything does, of what tells who is inside
     */
    LockWitness(
            Trace trace,
            boolean isExclusive,
            boolean isPunctual,
            boolean hasOwnTokens,
            EntryOrder order,
            Turns turns,
            Function<Supplier<@Nullable Jvm>, @Nullable Standstill> standstill) {
        this.trace = trace;
        this.isExclusive = isExclusive;
        this.isPunctual = isPunctual;
        this.hasOwnTokens = hasOwnTokens;
        this.order = order;
        this.turns = turns;
        this.standstill = standstill.apply(this::holder);
    }

    private @Nullable Jvm holder() {
        return holds.stream()
                .filter(Hold::isValid)
                .map(hold -> hold.actor.jvm())
                .findFirst()
                .orElse(null);
    }

    /** A thread calls. */
    void begins(Actor actor) {
        alone = callers.isEmpty() ? actor : null;
        callers.add(actor);
        if (standstill != null) {
            standstill.waits(actor);
        }
    }

    /** An untimed attempt was refused: not if nobody else was inside or wanted to be. */
    void refused(Actor actor) {
        if (isPunctual && alone == actor && !isAbandoned) {
            throw new Violation(actor.name() + " is refused what nobody else wants");
        }
    }

    /** A thread begins to wait without end. */
    void called(Actor actor) {
        order.called(actor);
        turns.called(actor);
    }

    /** A thread has entered. */
    void entered(Actor actor, Owned lock) {
        entered(actor, lock, false);
    }

    /** A thread's wait for a condition is over: it has entered again, or still is inside because it didn't wait. */
    void returned(Actor actor, Owned lock) {
        entered(actor, lock, true);
    }

    private void gotIn(Actor actor) {
        order.entered(actor);
        if (standstill != null) {
            standstill.entered(actor);
        }
    }

    private void entered(Actor actor, Owned lock, boolean mayHaveStayed) {
        gotIn(actor);
        if (mayHaveStayed) {
            turns.returned(actor);
        } else if (holds.stream().noneMatch(hold -> hold.actor == actor)) {
            turns.entered(actor);
        }
        long token;
        try {
            token = lock.fencingToken();
        } catch (LeaseLostException e) {
            trace.add(actor.jvm(), "is inside, but has lost it");
            return;
        } catch (RedisUnavailableException e) {
            // Its JVM was suspended meanwhile. It leaves, as a thread does that unlocks in a finally block.
            trace.add(actor.jvm(), "is inside, and can't learn whether it still has it");
            return;
        }
        trace.add(actor.jvm(), "is inside with token %d", token);
        boolean isNew = token > lastToken;
        if (isExclusive && !isNew && !(mayHaveStayed && token == lastToken && actor == lastActor)) {
            throw new Violation(String.format(
                    Locale.ROOT, "%s has token %d after %s had %d", actor.name(), token, name(lastActor), lastToken));
        }
        Hold hold = new Hold(actor, lock, token);
        hold.askedNanos = actor.jvm().scheduler().nanos();
        checkTokens(hold);
        entries += isNew ? 1 : 0;
        lastToken = token;
        lastActor = actor;
        holds.add(hold);
        check();
    }

    private void checkTokens(Hold hold) {
        if (hasOwnTokens && hold.tenure != null) {
            Tenure other = tenures.putIfAbsent(hold.token >> LOCAL_BITS, hold.tenure);
            if (other != null && other != hold.tenure) {
                throw new Violation(hold.actor.name() + " has token " + hold.token + ", which another tenure has had");
            }
        }
    }

    private static String name(@Nullable Actor actor) {
        return actor == null ? "nobody" : actor.name();
    }

    /**
     * A thread has entered to read.
     *
     * @param question fails if the thread has lost the lock since, which its session may have got again
     */
    void enteredToRead(Actor actor, Owned lock, Runnable question) {
        gotIn(actor);
        if (lock.valid() == null || hasLost(question)) {
            trace.add(actor.jvm(), "reads, but has lost it");
            return;
        }
        trace.add(actor.jvm(), "reads%s", isReadByOther(actor) ? " beside another session" : "");
        entries++;
        holds.add(new Hold(actor, lock, READS));
        check();
    }

    private static boolean hasLost(Runnable question) {
        try {
            question.run();
            return false;
        } catch (LeaseLostException | RedisUnavailableException e) {
            return true;
        }
    }

    private boolean isReadByOther(Actor actor) {
        return holds.stream().anyMatch(hold -> hold.reads() && hold.actor.jvm() != actor.jvm());
    }

    /** A thread that was suspended asks whether it has lost what it has; any other is taken to know. */
    void asks(Actor actor, Runnable question) {
        if (!actor.jvm().isDisoriented()) {
            return;
        }
        try {
            question.run();
            holds.stream()
                    .filter(hold -> hold.actor == actor)
                    .forEach(hold -> hold.askedNanos = actor.jvm().scheduler().nanos());
        } catch (LeaseLostException | RedisUnavailableException e) {
            trace.add(actor.jvm(), "doesn't have it any more: %s", e);
            holds.removeIf(hold -> hold.actor == actor);
        }
    }

    /** A thread is about to stop reading. */
    void stopsReading(Actor actor) {
        check();
        holds.removeIf(hold -> hold.actor == actor && hold.reads());
    }

    /** A thread's wait says that the lock was lost before: not if it had that when it began to wait. */
    void lostByWaiting(Actor actor, boolean wasInside, LeaseLostException failure) {
        if (isExclusive
                && wasInside
                && String.valueOf(failure.getMessage()).contains("its owner in Redis had changed")) {
            throw new Violation(actor.name() + " has waited with the lock, and is told that it was lost before");
        }
    }

    /** A thread is about to leave. Returns whether it still had what it leaves. */
    @CanIgnoreReturnValue
    boolean leaves(Actor actor) {
        check();
        boolean isInside = holds.stream().anyMatch(hold -> hold.actor == actor && !hold.reads() && hold.isValid());
        holds.removeIf(hold -> hold.actor == actor && !hold.reads());
        order.ended(actor);
        return isInside;
    }

    /** A thread ends that has not left. */
    void abandons(Actor actor) {
        isAbandoned = true;
        holds.stream().filter(hold -> hold.actor == actor).forEach(hold -> hold.isAbandoned = true);
    }

    @Override
    public void ended(Actor actor) {
        callers.remove(actor);
        holds.removeIf(hold -> hold.actor == actor && !hold.isAbandoned);
        order.ended(actor);
        turns.ended(actor);
        if (standstill != null) {
            standstill.ended(actor);
        }
    }

    /** Looks whether sessions believe at the same time that they own the name while threads of them are inside. */
    void check() {
        holds.removeIf(hold -> hold.isAbandoned && !hold.isValid());
        if (!isExclusive) {
            return;
        }
        for (Hold hold : holds) {
            if (!hold.reads() && hold.isValid()) {
                for (Hold other : holds) {
                    if (hold.excludes(other) && other.isValid()) {
                        throw new Violation("Two are inside: " + hold + ", " + other);
                    }
                }
            }
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
