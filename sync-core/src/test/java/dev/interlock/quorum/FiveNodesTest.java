package dev.interlock.quorum;

import static dev.interlock.testing.TooLate.assertBetween;
import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.QuorumInterlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Five nodes: what holds with two of them dead, and what happens with three. */
@Timely
class FiveNodesTest extends QuorumFixture {

    @Override
    int size() {
        return 5;
    }

    /** Two dead: the lock is had, kept past its lease, refused to others, and handed to them. */
    @Test
    @Tag("proof")
    void twoMayBeDead() {
        Duration lease = Duration.ofMillis(1_500);
        QuorumInterlock mine = session(builder -> builder.lease(lease));
        QuorumInterlock theirs = session(builder -> builder.lease(lease));
        kill(0, 3);
        DistributedReentrantLock lock = mine.lock(NAME);
        DistributedReentrantLock rival = theirs.lock(NAME);
        lock.lock();
        long token = lock.fencingToken();
        assertThat(nodes.owner(1, NAME)).startsWith(mine.id());
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = waiter.begin(rival::lock);
        await("the lease, twice")
                .pollInSameThread()
                .during(lease.multipliedBy(2))
                .atMost(PATIENCE)
                .until(() -> {
                    lock.assertHeld();
                    return !entered.isDone();
                });

        lock.unlock();

        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(waiter.get(rival::fencingToken)).isGreaterThan(token);
        assertThat(lock.tryLock()).isFalse();
        waiter.run(rival::unlock);
        awaitFree(1, 2, 4);
    }

    /** Three dead: every way of acquiring fails in its time, and nothing stays held on the other two. */
    @Test
    void threeMayNot() {
        Duration redisTimeout = Duration.ofSeconds(2);
        DistributedReentrantLock lock =
                session(builder -> builder.redisTimeout(redisTimeout)).lock(NAME);
        kill(0, 1, 2);

        long start = System.nanoTime();
        assertThatThrownBy(lock::lock).isInstanceOf(RedisUnavailableException.class);
        assertBetween(redisTimeout.dividedBy(2), redisTimeout.plus(SLACK), since(start));
        assertThat(lock.isLocked()).isFalse();
        awaitFree(3, 4);

        long timed = System.nanoTime();
        assertThatThrownBy(() -> lock.tryLock(700, TimeUnit.MILLISECONDS))
                .isInstanceOf(RedisUnavailableException.class);
        assertWithin(Duration.ofMillis(700).plus(SLACK), since(timed));
        long once = System.nanoTime();
        assertThatThrownBy(lock::tryLock).isInstanceOf(RedisUnavailableException.class);
        assertWithin(Duration.ofMillis(500).plus(SLACK), since(once));
        assertThat(lock.isLocked()).isFalse();
        awaitFree(3, 4);
        assertThat(nodes.leftovers(3)).isEmpty();
        assertThat(nodes.leftovers(4)).isEmpty();

        restart(0);
        await("a majority again").pollInSameThread().ignoreExceptions().until(() -> lock.tryLock(1, TimeUnit.SECONDS));
        assertThat(nodes.owner(0, NAME)).isNotEmpty();
        lock.unlock();
    }

    /** Tokens increase though the two majorities have one node in common, which alone knows the last one. */
    @Test
    void tokensIncreaseAcrossMajorities() {
        DistributedReentrantLock lock = session().lock(NAME);
        DistributedReentrantLock rival = session().lock(NAME);
        // The first three are far ahead.
        for (int i = 0; i < 3; i++) {
            nodes.node(i).command("SET", Nodes.lockKey(NAME) + "-token", "999999999999999");
        }
        nodes.node(3).pause();
        nodes.node(4).pause();
        lock.lock();
        long first = lock.fencingToken();
        lock.unlock();
        awaitFree(0, 1, 2);
        nodes.node(3).resume();
        nodes.node(4).resume();
        nodes.node(0).pause();
        nodes.node(1).pause();
        rival.lock();
        long second = rival.fencingToken();
        long third;
        try {
            assertThat(second).isGreaterThan(first);
            // The second majority has learned it from the one node that knew the first token.
            assertThat(nodes.token(3, NAME)).isEqualTo(nodes.token(2, NAME)).isGreaterThan(999_999_999_999_999L);
        } finally {
            rival.unlock();
            nodes.node(0).resume();
            nodes.node(1).resume();
        }
        lock.lock();
        third = lock.fencingToken();
        lock.unlock();
        assertThat(third).isGreaterThan(second);
    }
}
