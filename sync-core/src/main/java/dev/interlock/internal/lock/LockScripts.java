package dev.interlock.internal.lock;

import dev.interlock.internal.Script;
import dev.interlock.internal.Script.Call;
import dev.interlock.internal.ScriptRunner;
import dev.interlock.internal.Session;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The scripts of one lock, as one session runs them. */
final class LockScripts {
    /** For how long a session leaves the name to plain RLock clients of whom it knows that they wait. */
    static final long YIELD_MILLIS = 10;

    private static final Script TAKE = Script.load("lock/take");
    private static final Script DROP = Script.load("lock/drop");
    private static final Script ACQUIRE = Script.load("lock/acquire");
    private static final Script RELEASE = Script.load("lock/release");
    private static final Script RENEW = Script.load("lock/renew");
    private static final Script INSPECT = Script.load("lock/inspect");

    private final ScriptRunner runner;
    private final String id;
    private final long leaseMillis;
    private final String channel;
    private final String publish;
    private final List<Object> keys;
    private final List<Object> takeKeys;
    private final List<Object> renewKeys;
    private final List<Object> lockKey;

    LockScripts(Session session, String key) {
        this.runner = session.runner();
        this.id = session.id();
        this.leaseMillis = session.settings().leaseMillis();
        this.publish = session.isSharded() ? "spublish" : "publish";
        this.channel = "redisson_lock__channel:" + (key.contains("{") ? key : "{" + key + "}");
        String queue = keyOf("queue", key);
        String mark = keyOf("mark:" + id, key);
        this.keys = List.of(key, queue, keyOf("waiters", key), keyOf("token", key), keyOf("turns", key), mark);
        this.takeKeys = List.of(key, queue, keyOf("token", key), mark);
        this.renewKeys = List.of(key, queue, mark);
        this.lockKey = List.of(key);
    }

    // All keys of one lock have to be in one hash slot, whose choice is with the lock's own key: the name as it is.
    private static String keyOf(String kind, String key) {
        return key.contains("{") ? "interlock:" + kind + ":" + key : "interlock:{" + key + "}:" + kind;
    }

    /** Redisson's channel for this name, on which it announces that the lock is free. */
    String channel() {
        return channel;
    }

    /** The answer to {@link #acquire}. */
    record Standing(Status status, long ttlMillis, long token, boolean foreign, boolean waiters, long redisMicros) {}

    enum Status {
        OVER,
        GRANTED,
        QUEUED,
        BUSY
    }

    /** Asks for the lock in the way that costs least if nobody owns it and nobody waits. */
    CompletableFuture<Standing> takeOrAcquire(Ticket ticket, long floor) {
        Call take = TAKE.on(takeKeys, id + ":" + ticket.sequence, ticket.sequence, ticket.leaseMillis);
        return runner.runDurably(take).thenCompose(reply -> {
            long token = number(reply, 0);
            return token > 0
                    ? CompletableFuture.completedFuture(
                            new Standing(Status.GRANTED, ticket.leaseMillis, token, false, false, 0))
                    : acquire(ticket, floor);
        });
    }

    /** Asks for the lock, or asks again how the request stands. */
    CompletableFuture<Standing> acquire(Ticket ticket, long floor) {
        Call call =
                ACQUIRE.on(keys, id, ticket.sequence, ticket.leaseMillis, ticket.queues ? 1 : 0, ticket.from, floor);
        return runner.runDurably(call).thenApply(LockScripts::standing);
    }

    private static Standing standing(List<Object> reply) {
        Status status = Status.values()[(int) number(reply, 0)];
        boolean granted = status == Status.GRANTED;
        return new Standing(
                status,
                number(reply, 1),
                granted ? number(reply, 2) : 0,
                !granted && number(reply, 2) > 0,
                number(reply, 3) > 0,
                number(reply, 4));
    }

    /** The answer to {@link #release}: what was given up. */
    enum Released {
        NOTHING,
        TENURE,
        TICKET
    }

    /** Gives up what a sequence has, in the way that costs least if it is a tenure that nobody waits for. */
    CompletableFuture<Released> dropOrRelease(long sequence, long leaseMillis, long floor) {
        Call drop = DROP.on(renewKeys, id + ":" + sequence, sequence, leaseMillis, channel, publish);
        return runner.run(drop)
                .thenCompose(reply -> number(reply, 0) > 0
                        ? CompletableFuture.completedFuture(Released.TENURE)
                        : release(sequence, leaseMillis, floor));
    }

    /** Gives up what a sequence has. */
    CompletableFuture<Released> release(long sequence, long leaseMillis, long floor) {
        Call call = RELEASE.on(keys, id, sequence, leaseMillis, floor, channel, publish);
        return runner.run(call).thenApply(reply -> Released.values()[(int) number(reply, 0)]);
    }

    /** The answer to {@link #renew}. */
    record Renewal(boolean owned, long ttlMillis, boolean waiters, boolean foreignWaiters) {}

    Call renew(long sequence) {
        return RENEW.on(renewKeys, id + ":" + sequence, leaseMillis, channel, publish);
    }

    static Renewal renewal(List<Object> reply) {
        return new Renewal(number(reply, 0) > 0, number(reply, 1), number(reply, 2) > 0, number(reply, 3) > 0);
    }

    CompletableFuture<Boolean> inspect() {
        return runner.run(INSPECT.on(lockKey)).thenApply(reply -> number(reply, 0) > 0);
    }

    private static long number(List<Object> reply, int index) {
        return (Long) reply.get(index);
    }
}
