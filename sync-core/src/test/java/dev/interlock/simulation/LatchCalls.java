package dev.interlock.simulation;

import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Calls of the script of a latch. */
final class LatchCalls implements RandomCalls {
    private static final Script TELL = Script.load("latch/tell");
    private static final long DAY = 86_400_000;

    private final Random random;
    private final String name;
    private final long[] totals = new long[4];
    private final List<Long> latches = new ArrayList<>(List.of(0L));
    private long version;

    LatchCalls(Random random, String name) {
        this.random = random;
        this.name = name;
    }

    @Override
    public Script.Call next() {
        int contributor = random.nextInt(totals.length);
        String session = "interlock-" + contributor % 3;
        boolean joins = random.nextInt(5) == 0;
        long born = joins ? 0 : latches.get(Math.max(0, latches.size() - 1 - random.nextInt(2)));
        if (random.nextInt(4) == 0) {
            totals[contributor]++;
        }
        long said = random.nextInt(4) == 0 ? ++version - 5 : ++version;
        return TELL.on(
                List.of(
                        Keys.of("latch", name),
                        Keys.of("latch-totals", name),
                        Keys.of("latch-waiters", name),
                        Keys.of("mark:latch:" + session, name),
                        Keys.of("opened:" + born, name)),
                session,
                session + ":" + contributor,
                said,
                born,
                random.nextInt(6) == 0 ? Math.max(0, totals[contributor] - 1) : totals[contributor],
                random.nextInt(2),
                random.nextInt(12) == 0 ? 9 : 8,
                random.nextBoolean() ? 60_000 : DAY,
                random.nextInt(30) == 0 ? random.nextInt(8) : 8);
    }

    @Override
    public void heard(Outcome outcome) {
        if (outcome.reply() instanceof List<?> reply
                && reply.get(3) instanceof Long born
                && !latches.contains(born)
                && born > 0) {
            latches.add(born);
            totals[random.nextInt(totals.length)] = 0;
        }
    }
}
