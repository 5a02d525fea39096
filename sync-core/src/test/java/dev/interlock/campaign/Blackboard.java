package dev.interlock.campaign;

import dev.interlock.campaign.Step.Act;
import dev.interlock.testing.SharedWords;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Memory that all JVMs of the fleet share, without any lock: a store that refuses stale fencing tokens, and a few
 * counters.
 */
final class Blackboard {
    private static final List<Act> ACTS = List.of(Act.values());
    private static final int ROUND = ACTS.size();
    private static final int ITEMS = ROUND + 1;
    private static final int REFUSED = ITEMS + 1;

    private final SharedWords words;

    private Blackboard(SharedWords words) {
        this.words = words;
    }

    static Blackboard open(Path file) throws IOException {
        return new Blackboard(SharedWords.open(file, REFUSED + 1));
    }

    /**
     * Writes with a fencing token, as to a store that refuses what is older than what it has seen. Returns whether it
     * was taken.
     */
    boolean write(Act act, long token) {
        boolean isTaken = words.raise(ACTS.indexOf(act), token) <= token;
        if (!isTaken) {
            words.add(REFUSED, 1);
        }
        return isTaken;
    }

    /** How many writes were refused. */
    long refused() {
        return words.get(REFUSED);
    }

    /** The round in which threads meet at a latch. */
    long round() {
        return words.get(ROUND);
    }

    void endRound(long round) {
        words.raise(ROUND, round + 1);
    }

    /** What producers make and consumers take. */
    long items() {
        return words.get(ITEMS);
    }

    void addItems(long count) {
        words.add(ITEMS, count);
    }
}
