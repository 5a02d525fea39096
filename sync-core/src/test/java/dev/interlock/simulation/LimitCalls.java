package dev.interlock.simulation;

import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Calls of the scripts of a rate limiter. */
final class LimitCalls implements RandomCalls {
    private static final Script DECIDE = Script.load("ratelimit/decide");
    private static final Script UPDATE = Script.load("ratelimit/update");
    private static final List<String> ALGORITHMS = List.of("bucket", "fixed", "sliding");

    private final Random random;
    private final List<Object> keys;
    private final List<Script.Call> sent = new ArrayList<>();
    private final int sessions;
    private String limit;
    private long version;

    LimitCalls(Random random, String name) {
        this.random = random;
        this.keys = List.of(Keys.of("limit", name), Keys.of("limit-updated", name));
        this.sessions = random.nextBoolean() ? 3 : 40;
        this.limit = newLimit();
    }

    private String newLimit() {
        String algorithm = ALGORITHMS.get(random.nextInt(ALGORITHMS.size()));
        long permits = 1L + random.nextInt(12);
        long window = random.nextInt(4) == 0 ? 3_600_000_000L + random.nextInt(1_000) : 2_000_000;
        long burst = algorithm.equals("bucket") ? 1 + random.nextInt(15) : permits;
        return algorithm + " " + permits + " " + window + " " + burst;
    }

    @Override
    public Script.Call next() {
        if (random.nextInt(25) == 0) {
            return UPDATE.on(keys.subList(1, 2), newLimit(), random.nextBoolean() ? 0 : random.nextInt(5));
        }
        if (random.nextInt(30) == 0) {
            limit = newLimit();
        }
        if (!sent.isEmpty() && random.nextInt(5) == 0) {
            return sent.get(Math.max(0, sent.size() - 1 - random.nextInt(8)));
        }
        StringBuilder requests = new StringBuilder();
        for (int i = random.nextInt(4); i >= 0; i--) {
            long patience = random.nextInt(3) == 0 ? random.nextLong(3_000_000) : 0;
            long more = random.nextInt(3) == 0 ? random.nextInt(4) : 0;
            requests.append(1 + random.nextInt(5) + " " + more + " " + patience + " ");
        }
        String session = "interlock-" + random.nextInt(sessions);
        Script.Call call = DECIDE.on(keys, session, ++version, limit, requests.toString());
        sent.add(call);
        return call;
    }
}
