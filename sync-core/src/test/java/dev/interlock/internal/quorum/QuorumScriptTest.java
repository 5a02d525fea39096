package dev.interlock.internal.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.Transport;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.quorum.QuorumScripts.Kept;
import dev.interlock.internal.quorum.QuorumScripts.Released;
import dev.interlock.internal.quorum.QuorumScripts.Status;
import dev.interlock.internal.quorum.QuorumScripts.Vote;
import dev.interlock.internal.quorum.QuorumSession.QuorumNode;
import dev.interlock.internal.redis.Settings;
import dev.interlock.quorum.Nodes;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** What one node says, and what repeated and late commands do there. */
class QuorumScriptTest {
    private static final long LEASE = 20_000;
    private static final String KEY = "interlock:{script}:quorum";
    private static final long STEP_MICROS = 16_384;
    private static final long TOKENS_OF_A_STEP = STEP_MICROS / 8;

    private static Nodes nodes;
    private static List<RedissonClient> clients;
    private static QuorumSession mine;
    private static QuorumSession theirs;
    private static QuorumScripts scripts;
    private static QuorumScripts rivals;
    private static QuorumNode node;

    @BeforeAll
    static void open() {
        nodes = Nodes.launch(3);
        clients = Nodes.clients(nodes.urls());
        Settings settings = new Settings(
                LEASE,
                0,
                false,
                false,
                false,
                TimeUnit.SECONDS.toNanos(30),
                5_000,
                1,
                "",
                "test",
                new Listeners(),
                System::nanoTime);
        mine = QuorumSession.open(clients, Transport.REDISSON, settings);
        theirs = QuorumSession.open(clients, Transport.REDISSON, settings);
        scripts = new QuorumScripts(mine, "script");
        rivals = new QuorumScripts(theirs, "script");
        node = mine.nodes().get(0);
    }

    @AfterAll
    static void close() {
        mine.close();
        theirs.close();
        clients.forEach(RedissonClient::shutdown);
        nodes.close();
    }

    @BeforeEach
    void flush() {
        nodes.node(0).command("FLUSHALL");
    }

    private static <T> T of(CompletableFuture<T> answer) {
        return answer.orTimeout(10, TimeUnit.SECONDS).join();
    }

    private static Vote acquire(long sequence) {
        return of(scripts.acquire(node, new VoteRound.Request(sequence, LEASE, true, true, 1)));
    }

    private static Vote rivalAcquires(long sequence) {
        return of(rivals.acquire(node, new VoteRound.Request(sequence, LEASE, true, true, 1)));
    }

    private static Released release(long sequence) {
        return of(scripts.release(node, sequence, LEASE, true));
    }

    private static Kept renew(long sequence, long token) {
        return of(scripts.renew(node, sequence, LEASE, token));
    }

    private static long ttl() {
        return Long.parseLong(String.valueOf(nodes.node(0).command("PTTL", KEY)));
    }

    /** A repeated request gets the same vote, and doesn't prolong it. */
    @Test
    void aRepeatIsTheSameVote() {
        Vote vote = acquire(5);
        assertThat(vote.status()).isEqualTo(Status.VOTED);
        nodes.node(0).command("PEXPIRE", KEY, "9000");
        Vote again = acquire(5);
        assertThat(again.token()).isEqualTo(vote.token());
        assertThat(again.ttlMillis()).isBetween(1L, 9_000L);
        assertThat(ttl()).isLessThanOrEqualTo(9_000);
    }

    /** A node has one vote; who is refused hears whose it is, and is told when it is given up. */
    @Test
    void othersAreRefused() {
        acquire(5);
        Vote refused = rivalAcquires(1);
        assertThat(refused.status()).isEqualTo(Status.REFUSED);
        assertThat(refused.owner()).isEqualTo(mine.id() + ":5");
        assertThat(release(5)).isEqualTo(new Released(true, 1));
        assertThat(rivalAcquires(2).status()).isEqualTo(Status.VOTED);
    }

    /** A request that arrives after it was given up is refused, though nothing was found to be given up. */
    @Test
    void aLateRequestIsRefused() {
        assertThat(release(5).owned()).isFalse();
        assertThat(acquire(5).status()).isEqualTo(Status.OVER);
        assertThat(acquire(4).status()).isEqualTo(Status.OVER);
        assertThat(renew(5, 1).owned()).isFalse();
        assertThat(ttl()).isEqualTo(-2);
        assertThat(acquire(6).status()).isEqualTo(Status.VOTED);
    }

    /** A repeated release says what the first one said, and touches no later owner. */
    @Test
    void aRepeatedReleaseChangesNothing() {
        acquire(5);
        assertThat(release(5).owned()).isTrue();
        rivalAcquires(1);
        assertThat(release(5).owned()).isTrue();
        assertThat(nodes.node(0).command("HKEYS", KEY)).isEqualTo(List.of(theirs.id() + ":1"));
        assertThat(release(6).owned()).isFalse();
    }

    /** The next request of a session implies the release of the one before, and a release that of all before it. */
    @Test
    void theNextSequenceImpliesTheRelease() {
        Vote first = acquire(5);
        Vote second = acquire(6);
        assertThat(second.status()).isEqualTo(Status.VOTED);
        assertThat(second.token()).isGreaterThan(first.token());
        assertThat(acquire(5).status()).isEqualTo(Status.OVER);
        assertThat(release(5).owned()).as("the owner until the next request").isTrue();
        assertThat(nodes.node(0).command("HKEYS", KEY)).isEqualTo(List.of(mine.id() + ":6"));
        release(7);
        assertThat(ttl()).isEqualTo(-2);
    }

    /**
     * A renewal writes the token back and keeps the vote; at a node that has forgotten it is a new vote, told by its
     * token.
     */
    @Test
    void aRenewalKeepsTheVoteOrMakesANewOne() {
        Vote vote = acquire(5);
        long token = vote.token() + 1_000;
        nodes.node(0).command("PEXPIRE", KEY, "9000");
        Kept kept = renew(5, token);
        assertThat(kept.owned()).isTrue();
        assertThat(kept.token()).isEqualTo(vote.token());
        assertThat(ttl()).isGreaterThan(9_000);
        assertThat(nodes.node(0).command("GET", KEY + "-token")).isEqualTo(Long.toString(token));
        nodes.node(0).command("DEL", KEY);
        Kept anew = renew(5, token);
        assertThat(anew.owned()).isTrue();
        assertThat(anew.token()).isGreaterThan(token);
        release(5);
        assertThat(rivalAcquires(1).token()).isGreaterThan(anew.token());
        assertThat(renew(5, token).owned()).isFalse();
    }

    /** The node has gone back to an older copy of its data, which has given out none of the last tokens. */
    @Test
    void tokensGrowAcrossAnOlderCopyOfTheData() {
        long last = acquire(5).token();
        assertThat(last % TOKENS_OF_A_STEP).as("a new name").isZero();
        for (long sequence = 6; sequence < 10; sequence++) {
            release(sequence - 1);
            long step = micros() / STEP_MICROS;
            nodes.node(0).command("SET", KEY + "-token", Long.toString(last - 1_000_000));
            await("a node that was away").until(() -> micros() / STEP_MICROS > step);
            Vote vote = acquire(sequence);
            assertThat(vote.token()).isGreaterThan(last);
            last = vote.token();
        }
        release(9);
        long known = last + 1_000_000_000;
        nodes.node(0).command("SET", KEY + "-token", Long.toString(known));
        assertThat(acquire(10).token()).as("whatever the clock shows").isEqualTo(known + 1);
    }

    private static long micros() {
        List<?> time = (List<?>) Objects.requireNonNull(nodes.node(0).command("TIME"));
        return Long.parseLong(String.valueOf(time.get(0))) * 1_000_000 + Long.parseLong(String.valueOf(time.get(1)));
    }

    /** A lease of fixed length is neither prolonged nor voted for anew. */
    @Test
    void aFixedLeaseIsNotProlonged() {
        Vote vote = acquire(5);
        nodes.node(0).command("PEXPIRE", KEY, "9000");
        Kept kept = of(scripts.renew(node, 5, 0, vote.token()));
        assertThat(kept.owned()).isTrue();
        assertThat(ttl()).isLessThanOrEqualTo(9_000);
        nodes.node(0).command("DEL", KEY);
        assertThat(of(scripts.renew(node, 5, 0, vote.token())).owned()).isFalse();
        assertThat(ttl()).isEqualTo(-2);
    }

    /** Every key has a TTL, and a waiter that is gone is told nothing. */
    @Test
    void everyKeyEnds() {
        acquire(5);
        rivalAcquires(1);
        assertThat(nodes.node(0).keys())
                .hasSize(3)
                .allSatisfy(key ->
                        assertThat((Long) nodes.node(0).command("PTTL", key)).isPositive());
        nodes.node(0).command("HSET", KEY + "-waiters", "interlock-dead", "1:1");
        assertThat(release(5).waiters()).isEqualTo(1);
        of(rivals.release(node, 1, LEASE, true));
        assertThat(nodes.leftovers(0)).isEmpty();
    }
}
