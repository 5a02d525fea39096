package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static dev.interlock.internal.lock.script.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.redis.Script;
import dev.interlock.testing.RespError;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RLock;
import org.redisson.api.RScript;
import org.redisson.client.codec.StringCodec;

/**
 * The scripts next to plain {@code RLock}s of the same name: each excludes and wakes the other, and both get their
 * turns.
 */
class RedissonNeighbourTest extends LockScriptTest {
    /** Hand-overs in a row while plain clients watch. */
    private static final int MAX_TURNS = 16;

    private static final long YIELD_MILLIS = 10;

    @AfterEach
    void leave() {
        redisson.getTopic(keys.channel(), StringCodec.INSTANCE).removeAllListeners();
    }

    /** Listens where a plain client does that waits, without the plain client: so nobody takes what is left to it. */
    private void plainClientWaits() {
        redisson.getTopic(keys.channel(), StringCodec.INSTANCE).addListener(String.class, (channel, message) -> {});
    }

    @Test
    void plainOwnerIsForeign() throws InterruptedException {
        RLock lock = redisson.getLock(keys.lock());
        lock.lock(9, TimeUnit.SECONDS);
        try {
            Answer once = a.request(1).once().send();
            assertThat(once.status()).isEqualTo(Status.BUSY);
            assertThat(once.foreign()).isTrue();
            assertThat(once.ttlMillis()).isBetween(1L, 9_000L);
            Answer queued = a.queue(2);
            assertThat(queued.foreign()).isTrue();
            assertThat(queued.ttlMillis()).isBetween(1L, 9_000L);
            assertThat(a.queue(2).foreign()).isTrue();
        } finally {
            lock.unlock();
        }
        assertThat(a.acquire(2).status()).isEqualTo(Status.GRANTED);
        assertNoLetters(a);
    }

    @Test
    void plainClientFindsTheLockTakenAndThenFree() {
        RLock lock = redisson.getLock(keys.lock());
        a.own(1);
        assertThat(lock.isLocked()).isTrue();
        assertThat(lock.tryLock()).isFalse();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        a.release(1);
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.getHoldCount()).isEqualTo(1);
        lock.unlock();
        a.own(2);
    }

    /**
     * A release without waiters of ours wakes plain clients at once, long before the lease that they have seen is over.
     */
    @Test
    void releaseWakesAPlainClient() throws InterruptedException {
        a.own(1);
        AtomicBoolean entered = new AtomicBoolean();
        Thread waiter = plainClient(entered);
        await().atMost(PATIENCE).until(() -> a.renew(1).foreign() == 1);
        assertThat(entered).isFalse();
        assertThat(a.release(1)).isEqualTo(TENURE);
        waiter.join(LEASE / 2);
        assertThat(waiter.isAlive()).isFalse();
        assertThat(entered).isTrue();
    }

    private Thread plainClient(AtomicBoolean entered) {
        RLock lock = redisson.getLock(keys.lock());
        Thread thread = new Thread(() -> {
            lock.lock();
            try {
                entered.set(true);
            } finally {
                lock.unlock();
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Two sessions that hand the lock to and fro don't starve a plain client. */
    @Test
    void plainClientGetsItsTurnBesideAQueueThatIsNeverEmpty() throws InterruptedException {
        Rally rally = new Rally();
        AtomicBoolean entered = new AtomicBoolean();
        Thread waiter = plainClient(entered);
        await().atMost(PATIENCE).until(() -> rally.owner.renew(rally.owned).foreign() == 1);
        while (!entered.get()) {
            rally.handOver();
            // A plain client that was told needs a round trip and its thread; a slow one comes at a later turn.
            assertThat(rally.handOvers).isLessThan(MAX_TURNS * 100);
        }
        assertThat(rally.handOvers).isGreaterThanOrEqualTo(MAX_TURNS);
        waiter.join(PATIENCE.toMillis());
        assertThat(waiter.isAlive()).isFalse();
    }

    /**
     * After so many hand-overs that plain clients had to watch, the lock is really released and the queue stands back.
     */
    @Test
    void queueStandsBackAfterSoManyTurns() throws InterruptedException {
        plainClientWaits();
        Rally rally = new Rally();
        rally.handOver(MAX_TURNS - 1);
        assertThat(announcements()).isEmpty();
        letters(rally.waiter);
        // In one transaction, so that no time passes in between.
        RBatch transaction = redisson.createBatch(
                BatchOptions.defaults().executionMode(BatchOptions.ExecutionMode.REDIS_WRITE_ATOMIC));
        eval(transaction, "lock/release", rally.owner, rally.owned, LEASE, 1, keys.channel(), "publish", "", 1, "");
        eval(transaction, "lock/acquire", rally.waiter, rally.queued + ":" + LEASE, LEASE, 1, 0, 1, "", 3_000);
        List<?> replies = transaction.execute().getResponses();
        assertThat(replies.get(0)).isEqualTo(List.of(TENURE));
        assertThat(replies.get(1)).isInstanceOfSatisfying(List.class, answer -> {
            assertThat(answer.get(0)).as("queued").isEqualTo(2L);
            assertThat((Long) answer.get(1)).isBetween(1L, YIELD_MILLIS);
            assertThat(answer.get(2)).isEqualTo(0L);
        });
        assertThat(owners()).isEmpty();
        assertThat(announcements()).containsExactly("0");
        assertThat(letters(rally.waiter)).containsExactly("p " + YIELD_MILLIS + " " + keys.lock());
        assertThat(ttl(keys.turns())).isPositive();
        rally.awaitGrant();
    }

    private void eval(RBatch batch, String script, Contender by, Object... arguments) {
        batch.getScript(StringCodec.INSTANCE)
                .evalAsync(
                        RScript.Mode.READ_WRITE,
                        Script.load(script).text(),
                        RScript.ReturnType.LIST,
                        List.copyOf(keys.all(by.id)),
                        Stream.concat(Stream.of(by.id), Stream.of(arguments)).toArray());
    }

    /** Having stood back, the queue has as many turns again. */
    @Test
    void turnsAreCountedAnewAfterStandingBack() throws InterruptedException {
        plainClientWaits();
        Rally rally = new Rally();
        for (int round = 0; round < 3; round++) {
            rally.handOver(MAX_TURNS - 1);
            assertThat(announcements()).isEmpty();
            rally.handOver();
            assertThat(announcements()).containsExactly("0");
        }
    }

    @Test
    void withoutPlainClientsTheLockIsHandedOverForEver() throws InterruptedException {
        Rally rally = new Rally();
        rally.handOver(3 * MAX_TURNS);
        assertThat(announcements()).isEmpty();
        assertThat(ttls()).doesNotContainKey(keys.turns());
    }

    /** A turn that ends later than any turn can is none: Redis' clock has stepped back. */
    @Test
    void backwardStepOfTheClockDoesNotKeepTheQueueStandingBack() {
        Rally rally = new Rally();
        long later = Long.parseLong(list("TIME").get(0)) * 1_000 + 3_600_000;
        redis("HSET", keys.turns(), "count", "0", "until", Long.toString(later));
        redis("PEXPIRE", keys.turns(), "60000");
        expire();
        assertThat(rally.waiter.acquire(rally.queued).status()).isEqualTo(Status.GRANTED);
    }

    /**
     * A server that refuses to tell who else waits refuses the command as a whole: half of it would be worse than none.
     */
    @Test
    void commandThatMayNotCountPlainClientsChangesNothing() {
        Contender reader = contender();
        a.own(1);
        reader.request(2).reading().send();
        redis("PEXPIRE", keys.lock(), "9000");
        String tenure = redis("DUMP", keys.lock()).toString();
        redis("ACL", "SETUSER", "default", "-pubsub");
        try {
            assertThatThrownBy(() -> a.renew(1))
                    .isInstanceOf(RespError.class)
                    .hasMessageContaining("can't run this command");
            assertThatThrownBy(() -> a.release(1))
                    .isInstanceOf(RespError.class)
                    .hasMessageContaining("can't run this command");
            assertThat(redis("DUMP", keys.lock())).hasToString(tenure);
            assertThat(ttl(keys.lock())).isLessThanOrEqualTo(9_000);
            assertThat(ttls()).doesNotContainKey(keys.mark(a.id));
        } finally {
            redis("ACL", "SETUSER", "default", "+pubsub");
        }
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertThat(owners()).containsExactly(reader.id + ":r");
    }

    /**
     * Two sessions, one of which owns the lock while the other waits; from hand-over to hand-over they change places.
     */
    private final class Rally {
        Contender owner = contender();
        Contender waiter = contender();
        long owned = 1;
        long queued = 2;
        int handOvers;

        Rally() {
            owner.own(owned);
            waiter.queue(queued);
        }

        void handOver(int times) {
            for (int i = 0; i < times; i++) {
                handOver();
            }
        }

        void handOver() {
            handOvers++;
            assertThat(owner.release(owned)).isEqualTo(TENURE);
            awaitGrant();
            Contender leaver = owner;
            owner = waiter;
            owned = queued;
            waiter = leaver;
            queued = owned + 1;
            waiter.queue(queued);
        }

        void awaitGrant() {
            await().pollInterval(1, TimeUnit.MILLISECONDS)
                    .atMost(PATIENCE)
                    .until(() -> waiter.acquire(queued).status() == Status.GRANTED);
        }
    }
}
