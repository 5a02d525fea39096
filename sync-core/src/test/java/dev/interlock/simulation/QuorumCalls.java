package dev.interlock.simulation;

import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script;
import java.util.List;
import java.util.Random;

/** Calls of the scripts of a quorum lock at one node. */
final class QuorumCalls implements RandomCalls {
    private static final List<Long> LEASES = List.of(2_000L, 30_000L);

    private static final Script ACQUIRE = Script.load("quorum/acquire");
    private static final Script RENEW = Script.load("quorum/renew");
    private static final Script RELEASE = Script.load("quorum/release");
    private static final Script INSPECT = Script.load("quorum/inspect");

    private final Random random;
    private final String prefix;
    private final long[] last = new long[3];

    QuorumCalls(Random random, String name) {
        this.random = random;
        this.prefix = Keys.prefix(name) + "quorum";
    }

    @Override
    public Script.Call next() {
        int session = random.nextInt(last.length);
        String id = "interlock-" + session;
        String waiters = prefix + "-waiters";
        String token = prefix + "-token";
        String mark = prefix + "-mark:" + id;
        long lease = LEASES.get(random.nextInt(LEASES.size()));
        long sequence = Math.max(1, last[session] - random.nextInt(3));
        long floor = random.nextInt(20) == 0 ? 300_000_000_000_000L : 1;
        return switch (random.nextInt(10)) {
            case 0, 1, 2 ->
                ACQUIRE.on(List.of(prefix, waiters, token, mark), id, ++last[session], lease, floor, random.nextInt(2));
            case 3 -> ACQUIRE.on(List.of(prefix, waiters, token, mark), id, sequence, lease, floor, random.nextInt(2));
            case 4, 5 ->
                RENEW.on(List.of(prefix, token, mark), id, sequence, random.nextInt(3) == 0 ? 0 : lease, floor);
            case 6 -> INSPECT.on(List.of(prefix));
            default -> RELEASE.on(List.of(prefix, waiters, mark), id, sequence, lease, random.nextInt(2));
        };
    }
}
