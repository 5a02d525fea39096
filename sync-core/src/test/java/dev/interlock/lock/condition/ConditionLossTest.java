package dev.interlock.lock.condition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.LeaseLostException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.MovableTicker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks that are lost while threads wait for conditions, or are about to. */
@SuppressWarnings("WaitNotInLoop") // what ends a wait is what tests are about
class ConditionLossTest extends ConditionFixture {
    private static final int HOLDS = 2;

    private static void unlockLost(Side side, int holds) {
        assertThat(side.lock().getHoldCount()).isEqualTo(holds);
        assertThatThrownBy(side.lock()::assertHeld).isInstanceOf(LeaseLostException.class);
        for (int i = 1; i < holds; i++) {
            side.lock().unlock();
        }
        assertThatThrownBy(side.lock()::unlock).isInstanceOf(LeaseLostException.class);
        assertThat(side.lock().isHeldByCurrentThread()).isFalse();
    }

    // ---- loss

    /** A lock whose lease is over is not given up any more: await says so at once. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void theLeaseIsOverBeforeTheWait(Kind kind) {
        MovableTicker ticker = new MovableTicker();
        Side side = side(kind, session(builder -> builder.ticker(ticker)));
        side.lock().lock(1, TimeUnit.MINUTES);
        side.lock().lock();
        ticker.advance(Duration.ofMinutes(2));
        server().command("DEL", NAME);
        assertThatThrownBy(side.arrived()::await).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> side.arrived().await(1, TimeUnit.SECONDS)).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(side.arrived()::signal).isInstanceOf(LeaseLostException.class);
        assertThat(waiters()).isZero();
        unlockLost(side, HOLDS);
    }

    /** The same for a lock that is known to be lost since the last renewal. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void theLockIsLostBeforeTheWait(Kind kind) {
        MovableTicker ticker = new MovableTicker();
        Side side = side(kind, session(builder -> builder.ticker(ticker)));
        var lost = new AtomicBoolean();
        side.lock().onLost(loss -> lost.set(true));
        side.lock().lock();
        side.lock().lock();
        server().command("DEL", NAME);
        ticker.advance(Duration.ofSeconds(11));
        await("told").untilTrue(lost);
        assertThatThrownBy(side.arrived()::await).isInstanceOf(LeaseLostException.class);
        assertThat(waiters()).isZero();
        unlockLost(side, HOLDS);
    }

    /**
     * The tenure that was to register a waiter can't be continued, and whoever wanted to gives up: the waiter isn't
     * forgotten.
     */
    @Test
    void aTenureWithAWaiterCannotBeContinued() {
        Side side = side(Kind.PLAIN, session());
        Side thief = side(Kind.PLAIN, undisturbed());
        Actor waiter = actor("waiter");
        Actor leaver = actor("leaver");
        waiter.run(side.lock()::lock);
        CompletableFuture<Boolean> entered =
                leaver.ask(() -> side.lock().tryLock(1_500, 10_000, TimeUnit.MILLISECONDS));
        await("queued").until(side.lock()::hasQueuedThreads);
        server().command("DEL", NAME);
        thief.lock().lock();
        CompletableFuture<Boolean> returned = waiter.begin(() -> {
            side.arrived().await();
            side.lock().assertHeld();
            side.lock().unlock();
        });
        assertThat(entered).succeedsWithin(PATIENCE).isEqualTo(false);
        assertThat(returned).isNotDone();
        thief.lock().unlock();
        assertThat(returned).succeedsWithin(PATIENCE);
    }

    /** Nobody knew of the loss before Redis was told of the wait: the thread learns it once it has the lock back. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void theLossIsFoundByTheWait(Kind kind) {
        Side side = side(kind, session());
        Side thief = side(kind, undisturbed());
        Actor waiter = actor("waiter");
        waiter.run(() -> {
            side.lock().lock();
            side.lock().lock();
        });
        server().command("DEL", NAME);
        thief.lock().lock();
        CompletableFuture<Boolean> end = waiter.begin(() -> {
            assertThatThrownBy(side.arrived()::await).isInstanceOf(LeaseLostException.class);
            assertThat(side.lock().getHoldCount()).isEqualTo(HOLDS);
            side.lock().assertHeld();
            side.lock().unlock();
            side.lock().unlock();
        });
        awaitTickets(NAME, 1);
        thief.lock().assertHeld();
        assertThat(waiters()).isZero();
        assertThat(end).isNotDone();
        thief.lock().unlock();
        assertThat(end).succeedsWithin(PROMPTLY);
    }

    /** The same if nobody has the lock. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aDeletedLockIsFoundByTheWait(Kind kind) {
        Side side = side(kind, session());
        side.lock().lock();
        server().command("DEL", NAME);
        assertThatThrownBy(side.arrived()::await).isInstanceOf(LeaseLostException.class);
        side.lock().assertHeld();
        side.lock().unlock();
        assertThat(waiters()).isZero();
    }

    /** An operator deletes the lock while its owner is about to signal: all others return. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void theLockIsDeletedWhileOthersWait(Kind kind) {
        CompletableFuture<Boolean> first = startWaiting(side(kind, session()), 1);
        CompletableFuture<Boolean> second = startWaiting(side(kind, undisturbed()), 2);
        Side holder = side(kind, undisturbed());
        holder.lock().lock();
        holder.arrived().signal();
        server().command("DEL", NAME);
        assertThatThrownBy(holder.lock()::unlock).isInstanceOf(LeaseLostException.class);
        assertThat(first).succeedsWithin(PROMPTLY.plus(SLACK));
        assertThat(second).succeedsWithin(PROMPTLY.plus(SLACK));
    }

    /** Whichever key of the conditions is deleted: nobody waits for ever, and everything works afterwards. */
    @ParameterizedTest
    @ValueSource(strings = {"conditions", "signals", "token", "waiters", "queue"})
    void aKeyIsDeletedWhileThreadsWait(String key) {
        Side first = side(Kind.PLAIN, session());
        Side second = side(Kind.PLAIN, undisturbed());
        List<CompletableFuture<Boolean>> returned = List.of(startWaiting(first, 1), startWaiting(second, 2));
        server().command("DEL", "interlock:{" + NAME + "}:" + key);
        Side holder = side(Kind.PLAIN, undisturbed());
        holder.signalAll();
        for (CompletableFuture<Boolean> one : returned) {
            assertThat(one).succeedsWithin(REPEATED);
        }
        CompletableFuture<Boolean> again = startWaiting(first, 1);
        second.signal();
        assertThat(again).succeedsWithin(PROMPTLY);
    }

    /**
     * Redis goes back to an older copy, in which a thread waits that is done: the signal that it gets is passed on,
     * even if its session has no ticket for it because it has another place.
     */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aSignalOfAnOlderWaiterIsPassedOn(Kind kind) {
        Side done = side(kind, session());
        Side other = side(kind, session());
        Side signaller = side(kind, undisturbed());
        CompletableFuture<Boolean> first = startWaiting(done, 1);
        saveCopy();
        signaller.signal();
        assertThat(first).succeedsWithin(PATIENCE);
        awaitFree(NAME);
        goBack();
        awaitMailbox(done.session());
        CompletableFuture<Boolean> second = startWaiting(other, 2);
        signaller.lock().lock();
        CompletableFuture<Boolean> used = actor("queued").begin(() -> {
            done.lock().lock();
            done.lock().unlock();
        });
        awaitTickets(NAME, 1);
        signaller.arrived().signal();
        signaller.lock().unlock();
        assertThat(used).succeedsWithin(PATIENCE);
        assertThat(second).succeedsWithin(PATIENCE);
    }

    // ---- leases

    /** Who has waited with a fixed lease comes back with a fixed lease, which is not renewed. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    @Tag("proof")
    void aFixedLeaseComesBack(Kind kind) {
        Side side = side(kind, session());
        Side other = side(kind, undisturbed());
        // Redis ends it, so that the ticker is of no help.
        Duration lease = Duration.ofSeconds(3);
        CompletableFuture<Boolean> end = actor("waiter").begin(() -> {
            side.lock().lock(lease.toMillis(), TimeUnit.MILLISECONDS);
            side.arrived().await();
            side.lock().assertHeld();
            assertThat(pttl(NAME)).isPositive().isLessThanOrEqualTo(lease.toMillis());
            await("the end of the lease").until(() -> holder(NAME).isEmpty());
            unlockLost(side, 1);
        });
        awaitWaiters(1);
        other.signal();
        assertThat(end).succeedsWithin(lease.plus(PROMPTLY));
    }

    /** A fixed lease that is longer than the session's own. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aLongFixedLeaseComesBack(Kind kind) {
        Side side = side(kind, session());
        Side other = side(kind, undisturbed());
        CompletableFuture<Boolean> end = actor("waiter").begin(() -> {
            side.lock().lock(1, TimeUnit.MINUTES);
            side.arrived().await();
            side.lock().assertHeld();
            assertThat(pttl(NAME)).isBetween(55_000L, 60_000L);
            assertThat(side.arrived().await(50, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(pttl(NAME)).isBetween(55_000L, 60_000L);
            side.lock().unlock();
        });
        awaitWaiters(1);
        other.signal();
        assertThat(end).succeedsWithin(PROMPTLY);
    }
}
