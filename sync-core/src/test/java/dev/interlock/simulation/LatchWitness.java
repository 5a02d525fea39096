package dev.interlock.simulation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Sees how often latches were counted down, and who passes them. They are used one after the other. */
final class LatchWitness implements Witness {
    /** What happens to one latch. */
    private static final class Round {
        long begun;
        long ended;
        long added;
    }

    private final int count;
    private final boolean hasFaults;
    private final boolean isExact;
    private final boolean mayBeLost;
    private final boolean countsOnce;
    private final List<Round> rounds = new ArrayList<>(List.of(new Round()));
    private final Map<Actor, Integer> waiting = new LinkedHashMap<>();
    private long entries;

    /**
     * Creates the witness of latches.
     *
     * @param isExact whether each count-down that has ended is known to Redis sooner or later
     * @param mayBeLost whether Redis may forget a latch
     * @param countsOnce whether Redis knows what it has counted as long as it knows a latch: that is another key
     */
    LatchWitness(int count, boolean hasFaults, boolean isExact, boolean mayBeLost, boolean countsOnce) {
        this.count = count;
        this.hasFaults = hasFaults;
        this.isExact = isExact;
        this.mayBeLost = mayBeLost;
        this.countsOnce = countsOnce;
    }

    boolean mayBeLost() {
        return mayBeLost;
    }

    /** Returns which latch a call is of: that which is to be opened next, or the one before. */
    int round(Op op) {
        int current = rounds.size() - 1;
        return op.holdNanos() % 4 == 1 ? Math.max(0, current - 1) : current;
    }

    /** A count-down begins. */
    void countsDown(int round) {
        rounds.get(round).begun++;
        if (rounds.get(rounds.size() - 1).begun >= count) {
            rounds.add(new Round());
        }
    }

    /** A count-down has ended. */
    void hasCountedDown(int round) {
        rounds.get(round).ended++;
    }

    /** Returns how many count-downs have ended. */
    long counted(int round) {
        return rounds.get(round).ended;
    }

    /** A thread begins to wait without end. */
    void waits(int round, Actor actor) {
        waiting.put(actor, round);
    }

    /** A thread has seen that a latch is open. */
    void passed(int round) {
        entries++;
        if (countsOnce && rounds.get(round).begun < count) {
            throw new Violation(
                    "Latch " + round + " is open after " + rounds.get(round).begun + " of " + count + " count-downs");
        }
    }

    /**
     * A thread has seen that a latch is closed.
     *
     * @param before how many count-downs had ended before it asked
     */
    void turnedAway(int round, long before) {
        if (!hasFaults && before >= count) {
            throw wrong(round, 1);
        }
    }

    /**
     * Redis says what the count is.
     *
     * @param before how many count-downs had ended before it was asked
     */
    void checkCount(int round, long actual, long before) {
        if ((countsOnce && actual < count - rounds.get(round).begun)
                || (!hasFaults && actual > Math.max(0, count - before))) {
            throw wrong(round, actual);
        }
    }

    /** Redis says what the count is after all count-downs. */
    void checkLastCount(int round, long actual) {
        checkCount(round, actual, 0);
        if (isExact && actual > Math.max(0, count - rounds.get(round).ended)) {
            throw wrong(round, actual);
        }
    }

    private Violation wrong(int round, long actual) {
        Round seen = rounds.get(round);
        return new Violation("Latch " + round + " of " + count + " counts " + actual + " after " + seen.ended
                + " count-downs, and " + (seen.begun - seen.ended) + " that have begun");
    }

    @Override
    public void ended(Actor actor) {
        waiting.remove(actor);
    }

    // The count-downs that are missing. Those of JVMs that have died or whose session was closed may be missing, too.
    @Override
    public List<Op> rescue(int subject) {
        List<Op> missing = new ArrayList<>();
        waiting.values().stream().distinct().sorted().forEach(round -> {
            Round seen = rounds.get(round);
            long lacking = count - seen.ended;
            if (lacking <= 0 && !isExact && seen.added < 2L * count) {
                seen.added++;
                lacking = 1;
            }
            Op countDown = new Op(Call.COUNT_DOWN_OF, subject, 0, 0, round);
            missing.addAll(Collections.nCopies((int) Math.max(0, lacking), countDown));
        });
        return missing;
    }

    @Override
    public List<Op> finale(int subject) {
        return List.of(new Op(Call.GET_LAST_COUNT, subject, 0, 0, 0), new Op(Call.GET_LAST_COUNT, subject, 0, 1, 0));
    }

    @Override
    public long entries() {
        return entries;
    }
}
