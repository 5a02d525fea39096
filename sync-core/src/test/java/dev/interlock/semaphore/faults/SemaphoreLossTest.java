package dev.interlock.semaphore.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.MovableTicker;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What holders hear whose permits, or whose whole semaphore, are gone. */
class SemaphoreLossTest extends SemaphoreFaultFixture {
    private final MovableTicker ticker = new MovableTicker();

    /** Makes the renewal of a lease of 30 s due. */
    private void renew() {
        ticker.advance(Duration.ofSeconds(11));
    }

    /** Deletes the semaphore, and has another one of the same name, in one go. */
    private void makeAnew(boolean isOwned) {
        server().command(
                        "EVAL",
                        "redis.call('del', unpack(KEYS));"
                                + " redis.call('hset', KEYS[1], 'born', 1, 'protocol', 1, 'available', ARGV[1],"
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
