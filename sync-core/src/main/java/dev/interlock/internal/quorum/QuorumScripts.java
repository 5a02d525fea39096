package dev.interlock.internal.quorum;

import dev.interlock.internal.quorum.QuorumSession.QuorumNode;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The scripts of one quorum lock, as one session runs them at one node or the other. */
final class QuorumScripts {
    private static final Script ACQUIRE = Script.load("quorum/acquire");
    private static final Script RENEW = Script.load("quorum/renew");
    private static final Script RELEASE = Script.load("quorum/release");
    private static final Script INSPECT = Script.load("quorum/inspect");

    private final String session;
    private final String key;
    private final List<Object> acquireKeys;
    private final List<Object> renewKeys;
    private final List<Object> releaseKeys;
    private final List<Object> lockKey;

    QuorumScripts(QuorumSession session, String name) {
        this.session = session.id();
        String prefix = Keys.prefix(session.key(name));
        this.key = prefix + "quorum";
        String waiters = prefix + "quorum-waiters";
        String token = prefix + "quorum-token";
        String mark = prefix + "quorum-mark:" + session.id();
        this.acquireKeys = List.of(key, waiters, token, mark);
        this.renewKeys = List.of(key, token, mark);
        this.releaseKeys = List.of(key, waiters, mark);
        this.lockKey = List.of(key);
    }

    /** The key that messages about this lock carry. */
    String key() {
        return key;
    }

    /** How a request stands at a node. */
    enum Status {
        REFUSED,
        VOTED,
        OVER
    }

    /**
     * The answer of a node to a request.
     *
     * @param ttlMillis of the owner
     * @param token drawn with the vote, 0 if it was refused
     * @param owner who owns the name there
     */
    record Vote(Status status, long ttlMillis, long token, String owner) {}

    /** Asks a node for its vote. */
    CompletableFuture<Vote> acquire(QuorumNode node, VoteRound.Request request) {
        int waits = request.waits() ? 1 : 0;
        return node.run(ACQUIRE.on(
                        acquireKeys, session, request.sequence(), request.leaseMillis(), request.floor(), waits))
                .thenApply(reply -> new Vote(
                        Status.values()[(int) number(reply, 0)],
                        number(reply, 1),
                        number(reply, 2),
                        String.valueOf(reply.get(3))));
    }

    /**
     * The answer of a node that was to keep its vote.
     *
     * @param owned whether this session owns the name there, be it by a new vote
     * @param token drawn with the vote: another one than before if it is a new vote
     */
    record Kept(boolean owned, long ttlMillis, long token) {}

    /**
     * Writes the token of a tenure back to a node, and prolongs its lease.
     *
     * @param leaseMillis 0 for a lease that isn't prolonged
     */
    CompletableFuture<Kept> renew(QuorumNode node, long sequence, long leaseMillis, long token) {
        return node.run(RENEW.on(renewKeys, session, sequence, leaseMillis, token))
                .thenApply(reply -> new Kept(number(reply, 0) > 0, number(reply, 1), number(reply, 2)));
    }

    /**
     * The answer of a node that was to give a vote up.
     *
     * @param owned whether there was one of exactly that sequence
     * @param waiters how many other sessions wait
     */
    record Released(boolean owned, long waiters) {}

    /**
     * Has a node give up a vote.
     *
     * @param leaves whether the session doesn't ask again soon
     */
    CompletableFuture<Released> release(QuorumNode node, long sequence, long leaseMillis, boolean leaves) {
        return node.run(RELEASE.on(releaseKeys, session, sequence, leaseMillis, leaves ? 1 : 0))
                .thenApply(reply -> new Released(number(reply, 0) > 0, number(reply, 1)));
    }

    /** Asks a node who owns the name; an empty string if nobody does. */
    CompletableFuture<String> inspect(QuorumNode node) {
        return node.run(INSPECT.on(lockKey)).thenApply(reply -> String.valueOf(reply.get(0)));
    }

    private static long number(List<Object> reply, int index) {
        return (Long) reply.get(index);
    }
}
