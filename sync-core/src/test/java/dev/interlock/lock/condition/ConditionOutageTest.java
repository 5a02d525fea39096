package dev.interlock.lock.condition;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Threads that wait for a condition while Redis is gone, or has forgotten them: nobody hangs, and all holds are
 * restored.
 */
@SuppressWarnings("WaitNotInLoop") // what ends a wait is what tests are about
@Tag("proof")
class ConditionOutageTest extends ConditionFixture {
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(3);

    /** Until anybody notices: the next question of a waiting thread, and its command time-out. */
    private static final Duration NOTICED = Duration.ofMillis(1_500).plus(SHORT_TIMEOUT);

    private static final int HOLDS = 3;

    /** The ways in which Redis can be gone. */
    enum Fault {
        REFUSED {
            @Override
            void begin(ConditionFixture test) {
                test.cutOff();
            }
        },
        STALLED {
            @Override
            void begin(ConditionFixture test) {
                test.stall();
            }
        };

        abstract void begin(ConditionFixture test);
    }

    static Stream<Arguments> faults() {
        return Stream.of(Arguments.of(Kind.PLAIN, Fault.STALLED), Arguments.of(Kind.FAIR, Fault.REFUSED));
    }

    /** Each test waits for commands to time out. */
    @Override
    protected Duration commandTimeout() {
        return SHORT_TIMEOUT;
    }

    private Interlock failing() {
        return session(builder -> builder.redisTimeout(REDIS_TIMEOUT));
    }

    private static void lock(Side side, int holds) {
        for (int i = 0; i < holds; i++) {
            side.lock().lock();
        }
    }

    /** What a thread has that couldn't take the lock back: all its holds, of a lock that is lost. */
    private static void assertLostWithHolds(DistributedReentrantLock lock, int holds) {
        assertThat(lock.getHoldCount()).isEqualTo(holds);
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::fencingToken).isInstanceOf(LeaseLostException.class);
        for (int i = 1; i < holds; i++) {
            lock.unlock();
        }
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
    }

    private static void assertWorks(Side side) {
        await("works again").ignoreExceptions().until(() -> {
            if (!side.lock().tryLock(1, TimeUnit.SECONDS)) {
                return false;
            }
            side.lock().assertHeld();
            side.lock().unlock();
            return true;
        });
    }

    /**
     * After a fault threads may return for no reason, for a while: so this one waits for a change that goes with the
     * signal.
     */
    private void assertSignalArrives(Side from, Side to) {
        var arrivals = new AtomicInteger();
        CompletableFuture<Boolean> returned = actor("waiting again").begin(() -> {
            to.lock().lock();
            try {
                while (arrivals.get() == 0) {
                    to.arrived().await();
                }
            } finally {
                to.lock().unlock();
            }
        });
        awaitWaiters(1);
        from.lock().lock();
        arrivals.set(1);
        from.arrived().signal();
        from.lock().unlock();
        assertThat(returned).succeedsWithin(REPEATED);
    }

    /** Redis forgets everything: all return, one at a time, with a lock that is theirs. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void redisLosesAllData(Kind kind) {
        List<Side> sides = List.of(side(kind, session()), side(kind, session()));
        var inside = new AtomicInteger();
        List<CompletableFuture<Boolean>> returned = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Side side = sides.get(i % 2);
            returned.add(actor("waiter-" + i).begin(() -> {
                lock(side, HOLDS);
                side.arrived().await();
                assertThat(inside.incrementAndGet()).isEqualTo(1);
                assertThat(side.lock().getHoldCount()).isEqualTo(HOLDS);
                side.lock().assertHeld();
                assertThat(side.lock().fencingToken()).isPositive();
                inside.decrementAndGet();
                for (int hold = 0; hold < HOLDS; hold++) {
                    side.lock().unlock();
                }
            }));
            awaitWaiters(i + 1);
        }
        long flushed = Monotonic.nanos();
        server().command("FLUSHALL");
        for (CompletableFuture<Boolean> one : returned) {
            assertThat(one).succeedsWithin(PROMPTLY.plus(SLACK));
        }
        assertWithin(PROMPTLY.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - flushed));
    }

    /** Without Redis nobody can take the lock back: all fail when redisTimeout is over, with their holds. */
    @ParameterizedTest
    @MethodSource("faults")
    void anOutageThatIsTooLong(Kind kind, Fault fault) {
        Side side = side(kind, failing());
        List<Actor> actors = List.of(actor("first"), actor("second"));
        List<CompletableFuture<Boolean>> ends = new ArrayList<>();
        for (Actor actor : actors) {
            ends.add(actor.begin(() -> {
                lock(side, HOLDS);
                assertThatExceptionOfType(RedisUnavailableException.class)
                        .isThrownBy(side.arrived()::await)
                        .withMessageContaining(NAME);
                assertLostWithHolds(side.lock(), HOLDS);
            }));
            awaitWaiters(ends.size());
        }
        fault.begin(this);
        long begun = Monotonic.nanos();
        for (CompletableFuture<Boolean> end : ends) {
            assertThat(end).succeedsWithin(REDIS_TIMEOUT.plus(NOTICED).plus(SLACK));
        }
        assertThat(Duration.ofNanos(Monotonic.nanos() - begun)).isGreaterThan(REDIS_TIMEOUT.minus(NOTICED));
        assertThat(side.lock().isLocked()).isFalse();
        proxy().heal();
        assertWorks(side);
        assertSignalArrives(side(kind, undisturbed()), side);
    }

    /** A time that ends during the outage can't be kept, for the lock has to be taken back. */
    @ParameterizedTest
    @MethodSource("faults")
    void aTimedWaitInAnOutage(Kind kind, Fault fault) {
        Side side = side(kind, failing());
        CompletableFuture<Boolean> end = actor("waiter").begin(() -> {
            lock(side, HOLDS);
            assertThatExceptionOfType(RedisUnavailableException.class)
                    .isThrownBy(() -> side.arrived().await(500, TimeUnit.MILLISECONDS));
            assertLostWithHolds(side.lock(), HOLDS);
        });
        awaitWaiters(1);
        fault.begin(this);
        assertThat(end).succeedsWithin(REDIS_TIMEOUT.plus(NOTICED).plus(SLACK));
        proxy().heal();
        assertWorks(side);
    }

    /** Redis goes away before the waiter could be registered. */
    @ParameterizedTest
    @MethodSource("faults")
    void anOutageBeforeTheWaitBegins(Kind kind, Fault fault) {
        Side side = side(kind, failing());
        Actor actor = actor("waiter");
        actor.run(() -> lock(side, HOLDS));
        fault.begin(this);
        CompletableFuture<Boolean> end = actor.begin(() -> {
            assertThatExceptionOfType(RedisUnavailableException.class).isThrownBy(side.arrived()::await);
            assertLostWithHolds(side.lock(), HOLDS);
        });
        assertThat(end).succeedsWithin(REDIS_TIMEOUT.plus(NOTICED).plus(SLACK));
        proxy().heal();
        assertWorks(side);
    }

    /** A registration that comes when its waiter has given up, and Redis has been told so, registers nobody. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aRegistrationThatComesAfterItsWaiterIsGone(Kind kind) {
        Side side = side(kind, failing());
        Actor actor = actor("waiter");
        actor.run(side.lock()::lock);
        cutOff();
        CompletableFuture<Boolean> end = actor.begin(() -> {
            assertThatExceptionOfType(RedisUnavailableException.class).isThrownBy(side.arrived()::await);
            assertLostWithHolds(side.lock(), 1);
        });
        assertThat(end).succeedsWithin(REDIS_TIMEOUT.plus(NOTICED).plus(SLACK));
        proxy().delayRequests(registration(), Duration.ofMillis(1_500));
        proxy().refuse(false);
        await("late registration").until(() -> waiters() == 1);
        proxy().heal();
        await("nobody waits").until(() -> waiters() == 0);
    }

    /** What a waiter that had to give up was registered for is undone: a later signal goes to others. */
    @ParameterizedTest
    @MethodSource("faults")
    void aSignalAfterAnOutageGoesToWhoWaits(Kind kind, Fault fault) {
        Side side = side(kind, failing());
        Side other = side(kind, undisturbed());
        CompletableFuture<Boolean> end = actor("given up").begin(() -> {
            lock(side, 1);
            assertThatExceptionOfType(RedisUnavailableException.class).isThrownBy(side.arrived()::await);
            assertLostWithHolds(side.lock(), 1);
        });
        awaitWaiters(1);
        CompletableFuture<Boolean> staying = startWaiting(other, 2);
        fault.begin(this);
        assertThat(end).succeedsWithin(REDIS_TIMEOUT.plus(NOTICED).plus(SLACK));
        side(kind, undisturbed()).signal();
        proxy().heal();
        assertThat(staying).succeedsWithin(Duration.ofSeconds(3).plus(PROMPTLY));
    }

    /** An outage that is over in time costs nobody anything: a signal sent meanwhile arrives. */
    @ParameterizedTest
    @MethodSource("faults")
    void aShortOutage(Kind kind, Fault fault) {
        Side side = side(kind, session());
        Side other = side(kind, undisturbed());
        CompletableFuture<Boolean> first = startWaiting(side, 1);
        CompletableFuture<Boolean> second = startWaiting(side, 2);
        fault.begin(this);
        await("outage").during(Duration.ofMillis(700)).until(() -> !first.isDone());
        other.signal();
        await("outage").during(Duration.ofMillis(700)).until(() -> !first.isDone());
        proxy().heal();
        assertThat(first).succeedsWithin(REPEATED);
        // A message may be lost for good, and then all return.
        other.signal();
        assertThat(second).succeedsWithin(REPEATED);
    }

    /** An outage longer than a heartbeat: waiters are passed over, and return when they hear of it. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void anOutageLongerThanAHeartbeat(Kind kind) {
        Side side = side(kind, session());
        Side other = side(kind, undisturbed());
        CompletableFuture<Boolean> silent = startWaiting(side, 1);
        CompletableFuture<Boolean> living = startWaiting(other, 2);
        cutOff();
        await("the end of a heartbeat").during(Duration.ofMillis(3_300)).until(() -> !silent.isDone());
        side(kind, undisturbed()).signal();
        assertThat(living).succeedsWithin(PROMPTLY);
        assertThat(silent).isNotDone();
        proxy().heal();
        assertThat(silent).succeedsWithin(REPEATED);
    }
}
