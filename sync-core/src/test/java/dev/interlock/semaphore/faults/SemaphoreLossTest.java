package dev.interlock.semaphore.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.MovableTicker;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Redis forgets scripts or everything, is silent, or loses messages; sessions are closed. */
class SemaphoreLossTest extends SemaphoreFaultFixture {
    private final MovableTicker ticker = new MovableTicker();

    /** Makes the renewal of a lease of 30 s due. */
    private void renew() {
        ticker.advance(Duration.ofSeconds(11));
    }

    /** Every command may be the first that Redis hears of its script. */
    @Test
    void forgottenScriptsCostNothing() {
        DistributedSemaphore semaphore = of(session());
        DistributedSemaphore rival = of(session());
        Actor first = actor("first");
        Actor second = actor("second");
        forgetScripts();
        first.run(() -> semaphore.acquire(2));
        forgetScripts();
        CompletableFuture<Boolean> entered = queue(second, () -> rival.acquire(3), 1);
        forgetScripts();
        first.run(() -> semaphore.release(2));
        assertThat(entered).succeedsWithin(PROMPTLY);
        forgetScripts();
        assertThat(semaphore.tryAcquire()).isFalse();
        forgetScripts();
        second.run(() -> rival.release(3));
        assertPool(PERMITS);
    }

    /**
     * Redis comes back with nothing: holders are told, their releases free nothing, and a waiter gets a permit of the
     * new pool.
     */
    @Test
    void holdersHearThatRedisHasLostItsData() {
        Recorder recorder = new Recorder();
        DistributedSemaphore semaphore =
                of(session(builder -> builder.ticker(ticker).listener(recorder)));
        DistributedSemaphore wanted = of(session());
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(() -> semaphore.acquire(3));
        CompletableFuture<Boolean> entered = queue(waiter, () -> wanted.acquire(2), 1);

        server().restart();

        assertThat(entered).succeedsWithin(PATIENCE);
        renew();
        await("told").until(() -> recorder.count(Recorder.Kind.LOST) == 1);
        assertThatThrownBy(() -> holder.run(() -> semaphore.release(2))).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> holder.run(semaphore::release)).isInstanceOf(LeaseLostException.class);
        assertPool(1);
        waiter.run(() -> wanted.release(2));
        holder.run(() -> semaphore.acquire(3));
        holder.run(() -> semaphore.release(3));
        assertPool(PERMITS);
        assertThat(recorder.count(Recorder.Kind.LOST)).isEqualTo(1);
    }

    /**
     * Redis is silent for longer than anybody's patience: all who wait fail together, and nothing is gained or lost.
     */
    @Test
    @Tag("proof")
    void waitersFailTogetherInALongOutage() {
        Duration patience = Duration.ofSeconds(2);
        // Waits fail after commands that time out.
        Interlock session = impatient(builder -> builder.redisTimeout(patience));
        DistributedSemaphore semaphore = of(session);
        DistributedSemaphore held = of(undisturbed());
        assertThat(held.tryAcquire(3)).isTrue();
        List<CompletableFuture<Boolean>> waiters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int permits = 1 + i % 3;
            waiters.add(actor("waiter-" + i).begin(() -> semaphore.acquireUninterruptibly(permits)));
        }
        awaitWaiting(1);
        await("all wait").until(() -> semaphore.getQueueLength() == 4);

        proxy().stall();

        for (CompletableFuture<Boolean> waiter : waiters) {
            assertThat(waiter)
                    .failsWithin(patience.plus(PROMPTLY).plus(SLACK))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(RedisUnavailableException.class);
        }
        assertThatThrownBy(() -> actor("late")
                        .run(() -> assertThat(semaphore.tryAcquire()).isFalse()))
                .isInstanceOf(RedisUnavailableException.class);
        proxy().resume();
        held.release(3);
        assertPool(PERMITS);
        Actor next = actor("next");
        next.run(() -> semaphore.acquire(3));
        next.run(() -> semaphore.release(3));
    }

    /**
     * Redis is silent for longer than the lease: who has permits has lost them, and hears so; the pool is exact
     * afterwards.
     */
    @Test
    @Tag("proof")
    void permitsAreLostInAnOutageLongerThanTheLease() {
        Recorder recorder = new Recorder();
        DistributedSemaphore semaphore =
                of(session(builder -> builder.lease(LEASE).listener(recorder)));
        DistributedSemaphore other = of(undisturbed());
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(() -> semaphore.acquire(2));
        CompletableFuture<Boolean> entered = queue(waiter, () -> other.acquire(3), 1);

        proxy().stall();

        assertThat(entered).succeedsWithin(PATIENCE);
        await("told").until(() -> recorder.count(Recorder.Kind.LOST) == 1);
        assertThatThrownBy(() -> holder.run(() -> semaphore.release(2))).isInstanceOf(LeaseLostException.class);
        proxy().resume();
        assertThat(pool()).isZero();
        waiter.run(() -> other.release(3));
        assertPool(PERMITS);
        holder.run(() -> semaphore.acquire(3));
        holder.run(() -> semaphore.release(3));
        assertThat(recorder.count(Recorder.Kind.LOST)).isEqualTo(1);
    }

    /** A release that Redis doesn't answer returns, and reaches it later. */
    @Test
    void releasesReachRedisLater() {
        // The release returns after its time-out.
        DistributedSemaphore semaphore = of(impatient());
        Actor holder = actor("holder");
        holder.run(() -> semaphore.acquire(2));
        proxy().stall();

        assertThat(holder.begin(() -> semaphore.release(2))).succeedsWithin(SHORT_TIMEOUT.plus(SLACK));

        assertThat(pool()).isEqualTo(PERMITS - 2);
        proxy().resume();
        assertPool(PERMITS);
    }

    /** With all messages lost, sessions still take turns, at a pulse's pace. */
    @Test
    void sessionsThatHearNothingStillTakeTurns() {
        proxy().dropMessages(SemaphoreFaultFixture::isMessage, FaultProxy.ALWAYS);
        List<DistributedSemaphore> semaphores = List.of(of(session()), of(session()));
        List<Actor> actors = List.of(actor("first"), actor("second"));
        List<Duration> waits = new ArrayList<>();
        actors.get(0).run(() -> semaphores.get(0).acquire(3));
        for (int round = 0; round < 3; round++) {
            int holder = round % 2;
            int waiter = 1 - holder;
            CompletableFuture<Boolean> entered =
                    actors.get(waiter).begin(() -> semaphores.get(waiter).acquire(3));
            awaitWaiting(1);
            long begun = Monotonic.nanos();
            actors.get(holder).run(() -> semaphores.get(holder).release(3));
            assertThat(entered).as("round %d", round).succeedsWithin(PATIENCE);
            waits.add(Duration.ofNanos(Monotonic.nanos() - begun));
        }
        assertPulses(waits);
        actors.get(1).run(() -> semaphores.get(1).release(3));
    }

    /** A grant that comes when the one it was for has left: it is given back. */
    @Test
    void aLateGrantIsGivenBack() {
        DistributedSemaphore held = of(undisturbed());
        Interlock session = session();
        DistributedSemaphore wanted = of(session);
        assertThat(held.tryAcquire(3)).isTrue();
        proxy().delayMessages(SemaphoreFaultFixture::isMessage, Duration.ofMillis(500), FaultProxy.ALWAYS);
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = queue(waiter, () -> wanted.acquire(2), 1);

        held.release(3);
        awaitWaiting(0);
        waiter.interrupt();

        assertThat(entered).failsWithin(PROMPTLY);
        assertPool(PERMITS);
    }

    /** Who waits when the session is closed fails; what it had is back at once, and its releases free nothing. */
    @Test
    void closingGivesBackAndEndsWaits() {
        Interlock session = session();
        DistributedSemaphore semaphore = of(session);
        DistributedSemaphore other = of(undisturbed());
        Actor holder = actor("holder");
        holder.run(() -> semaphore.acquire(2));
        List<CompletableFuture<Boolean>> waiters = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int permits = 1 + i;
            waiters.add(actor("waiter-" + i).begin(() -> semaphore.acquire(permits)));
        }
        await("they wait").until(() -> semaphore.getQueueLength() >= 2);

        session.close();

        for (CompletableFuture<Boolean> waiter : waiters) {
            assertThat(waiter)
                    .satisfiesAnyOf(
                            ended -> assertThat(ended).succeedsWithin(PROMPTLY),
                            ended -> assertThat(ended)
                                    .failsWithin(PROMPTLY)
                                    .withThrowableOfType(ExecutionException.class)
                                    .withCauseInstanceOf(IllegalStateException.class));
        }
        await("all of it is back").atMost(PROMPTLY).until(() -> other.availablePermits() == PERMITS);
        assertThatThrownBy(() -> holder.run(() -> semaphore.release(2))).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(semaphore::tryAcquire).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(semaphore::availablePermits).isInstanceOf(IllegalStateException.class);
        assertPool(PERMITS);
    }

    // ---- the semaphore is gone, and others make it anew

    /** Deletes the semaphore, and has another one of the same name, in one go. */
    private void makeAnew(boolean isOwned) {
        server().command(
                        "EVAL",
                        "redis.call('del', unpack(KEYS)); redis.call('hset', KEYS[1], 'born', 1, 'available', ARGV[1],"
                                + " 'permits', ARGV[1], 'owned', ARGV[2]); redis.call('pexpire', KEYS[1], 60000)",
                        "4",
                        KEY,
                        KEY + "-queue",
                        KEY + "-sessions",
                        KEY + "-retired",
                        String.valueOf(PERMITS),
                        isOwned ? "1" : "0");
    }

    /** Redis answers that the semaphore isn't what was stated: that says nothing of the permits that threads have. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void holdersHearThatTheirSemaphoreWasMadeAnew(boolean isOwned) {
        Recorder recorder = new Recorder();
        DistributedSemaphore semaphore =
                of(session(builder -> builder.ticker(ticker).listener(recorder)));
        Actor holder = actor("holder");
        holder.run(() -> semaphore.acquire(2));

        makeAnew(isOwned);

        renew();
        await("told").until(() -> recorder.count(Recorder.Kind.LOST) == 1);
        assertThatThrownBy(() -> holder.run(() -> semaphore.release(2))).isInstanceOf(LeaseLostException.class);
        if (!isOwned) {
            assertThatThrownBy(semaphore::tryAcquire)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("whose permits belong to sessions, but it isn't");
            makeAnew(true);
        }
        holder.run(() -> semaphore.acquire(3));
        holder.run(() -> semaphore.release(3));
        assertPool(PERMITS);
    }

    /** Nobody was told of what was lost while it was being released. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aReleaseThatFindsALossReportsAllOfIt(int released) {
        Recorder recorder = new Recorder();
        DistributedSemaphore semaphore = of(session(builder -> builder.listener(recorder)));
        List<LeaseLostException> told = new CopyOnWriteArrayList<>();
        semaphore.onLost(told::add);
        Actor holder = actor("holder");
        holder.run(() -> semaphore.acquire(3));

        makeAnew(true);

        assertThatThrownBy(() -> holder.run(() -> semaphore.release(released))).isInstanceOf(LeaseLostException.class);
        await("told").until(() -> !told.isEmpty());
        assertThat(told.get(0)).hasMessageStartingWith("3 permits of semaphore 'pool' lost");
        if (released < 3) {
            assertThatThrownBy(() -> holder.run(() -> semaphore.release(3 - released)))
                    .isInstanceOf(LeaseLostException.class);
        }
        assertPool(PERMITS);
        assertThat(told).hasSize(1);
        assertThat(recorder.count(Recorder.Kind.LOST)).isEqualTo(1);
        assertThat(recorder.count(Recorder.Kind.LOST_UNNOTICED)).isZero();
    }

    /** The release has returned before Redis could tell that there was nothing to be released. */
    @Test
    void aLossThatIsFoundAfterTheReleaseIsReported() {
        Recorder recorder = new Recorder();
        // The release returns after its time-out.
        DistributedSemaphore semaphore = of(impatient(builder -> builder.listener(recorder)));
        Actor holder = actor("holder");
        holder.run(() -> semaphore.acquire(2));
        proxy().stall();
        holder.run(() -> semaphore.release(2));

        makeAnew(true);
        proxy().resume();

        await("told").until(() -> recorder.count(Recorder.Kind.LOST_UNNOTICED) == 1);
        assertPool(PERMITS);
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
    }

    /** How a thread takes permits past all who wait. */
    enum Taking {
        TRYING {
            @Override
            int take(DistributedSemaphore semaphore) {
                return semaphore.tryAcquire(PERMITS) ? PERMITS : 0;
            }
        },
        DRAINING {
            @Override
            int take(DistributedSemaphore semaphore) {
                return semaphore.drainPermits();
            }
        };

        abstract int take(DistributedSemaphore semaphore);
    }

    /** The answer comes when the lease is over and another JVM has the permits: nobody believes it any more. */
    @ParameterizedTest
    @EnumSource(Taking.class)
    void anAnswerWhoseLeaseIsOverIsNotBelieved(Taking taking) {
        // Over, and the permits another session's, long before the answer comes.
        Interlock session =
                session(builder -> builder.lease(Duration.ofMillis(500)).commandTimeout(PATIENCE));
        DistributedSemaphore semaphore = of(session);
        DistributedSemaphore other = of(undisturbed());
        assertThat(semaphore.availablePermits()).isEqualTo(PERMITS);
        Actor taker = actor("taker");
        Actor waiter = actor("waiter");
        proxy().delayReplies(saidBy(session), Duration.ofSeconds(4), 1);

        CompletableFuture<Integer> taken = taker.ask(() -> taking.take(semaphore));
        await("taken").until(() -> pool() == 0);
        waiter.run(() -> other.acquire(PERMITS));
        assertThat(taken.isDone()).as("the answer is on its way").isFalse();

        assertThat(taken).succeedsWithin(PATIENCE).isEqualTo(0);
        waiter.run(() -> other.release(PERMITS));
    }
}
