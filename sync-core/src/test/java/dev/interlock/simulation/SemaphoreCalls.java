package dev.interlock.simulation;

import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Calls of the script of a semaphore. */
final class SemaphoreCalls implements RandomCalls {
    private static final Script TELL = Script.load("semaphore/tell");
    private static final Script PROLONG = Script.load("session/prolong");
    private static final List<String> VERBS = List.of("look", "take", "take_in_turn", "drain", "resize");

    private final Random random;
    private final List<Object> keys;
    private final List<Session> sessions = new ArrayList<>();
    private final List<Script.Call> sent = new ArrayList<>();
    private int permits = 5;

    /** What a session says. */
    private static final class Session {
        final String id;
        long epoch = 1;
        long version;
        boolean isFresh = true;
        long returned;
        long wanted;
        long contributed;
        long granted;

        Session(String id) {
            this.id = id;
        }
    }

    SemaphoreCalls(Random random, String name) {
        this.random = random;
        this.keys = Stream.of("semaphore", "semaphore-queue", "semaphore-sessions", "semaphore-retired")
                .<Object>map(kind -> Keys.of(kind, name))
                .toList();
        for (int i = 0; i < 4; i++) {
            sessions.add(new Session("interlock-" + i));
        }
    }

    @Override
    public Script.Call next() {
        if (!sent.isEmpty() && random.nextInt(6) == 0) {
            return sent.get(Math.max(0, sent.size() - 1 - random.nextInt(6)));
        }
        Session session = sessions.get(random.nextInt(sessions.size()));
        if (random.nextInt(16) == 0) {
            return PROLONG.on(List.of(keys.get(2)), session.id, random.nextBoolean() ? 3_000 : 30_000);
        }
        session.version++;
        switch (random.nextInt(20)) {
            case 0 -> reopen(session);
            case 1, 2, 3, 4 -> session.returned = Math.min(session.wanted, session.returned + 1 + random.nextInt(3));
            case 5, 6, 7, 8, 9 -> session.wanted += 1 + random.nextInt(3);
            case 10 -> session.contributed += random.nextInt(3) - 1;
            case 11 -> session.wanted = Math.max(session.returned, session.wanted - 1);
            case 12 -> session.isFresh = true;
            case 13 -> session.granted = Math.min(session.wanted, session.granted + 1);
            default -> session.isFresh = false;
        }
        if (random.nextInt(60) == 0) {
            permits = 3 + random.nextInt(4);
        }
        Script.Call call = call(session);
        sent.add(call);
        return call;
    }

    private static void reopen(Session session) {
        session.epoch++;
        session.isFresh = true;
        session.returned = 0;
        session.wanted = 0;
        session.contributed = 0;
        session.granted = 0;
    }

    private Script.Call call(Session session) {
        boolean operates = random.nextInt(4) == 0;
        boolean joins = random.nextInt(8) == 0;
        String verb = joins ? "join" : operates ? VERBS.get(random.nextInt(VERBS.size())) : "";
        return TELL.on(
                keys,
                session.id,
                session.epoch,
                session.version,
                session.isFresh ? 1 : 0,
                session.returned,
                session.wanted,
                session.contributed,
                random.nextInt(25) == 0 ? 1 + random.nextInt(2) : 0,
                random.nextBoolean() ? 3_000 : 30_000,
                permits,
                random.nextInt(100) == 0 ? 0 : 1,
                operates && !joins ? session.version : 0,
                verb,
                verb.equals("resize") ? permits : 1 + random.nextInt(3),
                session.granted,
                random.nextInt(12) == 0 ? 1 + random.nextInt(3) : 0,
                random.nextInt(50) == 0 ? 1 : 0);
    }
}
