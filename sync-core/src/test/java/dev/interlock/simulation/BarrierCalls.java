package dev.interlock.simulation;

import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Calls of the script of a barrier. */
final class BarrierCalls implements RandomCalls {
    private static final Script MEET = Script.load("barrier/meet");
    private static final int PARTIES = 4;
    private static final List<String> WISHES =
            List.of("none", "none", "none", "none", "none", "none", "break", "acted", "acted", "failed", "renew");

    private final Random random;
    private final List<Object> keys;
    private final List<Session> sessions = new ArrayList<>();
    private final List<Script.Call> sent = new ArrayList<>();
    private Session asking;

    /** What a session says. */
    private static final class Session {
        final String id;
        boolean isMember;
        long version;
        long generation;
        int arrivals;
        long resets;

        Session(String id) {
            this.id = id;
        }
    }

    BarrierCalls(Random random, String name) {
        this.random = random;
        this.keys = Stream.of("barrier", "barrier-members", "mark:barrier", "mark:barrier-end")
                .<Object>map(kind -> Keys.of(kind, name))
                .toList();
        for (int i = 0; i < 3; i++) {
            sessions.add(new Session("interlock-" + i));
        }
        asking = sessions.get(0);
    }

    @Override
    public Script.Call next() {
        if (!sent.isEmpty() && random.nextInt(8) == 0) {
            return sent.get(Math.max(0, sent.size() - 1 - random.nextInt(5)));
        }
        asking = sessions.get(random.nextInt(sessions.size()));
        asking.version++;
        if (random.nextBoolean()) {
            asking.arrivals += random.nextInt(3);
        }
        if (random.nextInt(20) == 0) {
            asking.resets = asking.version;
        }
        String membership = random.nextInt(30) == 0
                ? "leave"
                : asking.isMember && random.nextInt(20) > 0 ? "stay" : random.nextInt(3) > 0 ? "join" : "rejoin";
        Script.Call call = MEET.on(
                keys,
                asking.id,
                asking.version,
                random.nextInt(5) == 0 ? 3_000 : 30_000,
                random.nextInt(40) == 0 ? PARTIES + 1 : PARTIES,
                membership,
                asking.generation,
                asking.arrivals,
                random.nextInt(2),
                WISHES.get(random.nextInt(WISHES.size())),
                asking.resets,
                random.nextInt(5) == 0 ? asking.resets : 0);
        sent.add(call);
        return call;
    }

    @Override
    public void heard(Outcome outcome) {
        if (outcome.reply() instanceof List<?> reply && reply.get(0) instanceof Long status) {
            asking.isMember = status == 1;
            if (asking.isMember && reply.get(1) instanceof Long generation && generation != asking.generation) {
                asking.generation = generation;
                asking.arrivals = 0;
            }
        }
    }
}
