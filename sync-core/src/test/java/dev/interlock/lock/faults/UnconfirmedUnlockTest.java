package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.internal.redis.RedisMonitor;
import dev.interlock.internal.redis.RedisMonitor.Command;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.Requests;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An unlock() that doesn't wait for its release, and what comes right after it. */
class UnconfirmedUnlockTest extends FaultFixture {
    private static final String NAME = "unlocked";
    private static final Duration LATE = Duration.ofMillis(150);
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int MOST = 1_000;

    private Interlock patient() {
        return session(builder -> builder.commandTimeout(LONG));
    }

    private DistributedReentrantLock released(Interlock session) {
        return free(session.lock(NAME, LockOptions.releaseAtOnce()));
    }

    @Test
    void itReturnsBeforeRedisHears() {
        DistributedReentrantLock lock = lock(patient(), NAME);
        lock.lock();
        proxy().stall();
        lock.unlock();
        assertThat(holder(NAME)).isNotEmpty();
        assertThat(lock.isLocked()).isFalse();
        proxy().resume();
        awaitFree(NAME);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aConfirmedOneReturnsAfterwards(boolean bySession) {
        Interlock session = session(
                builder -> builder.commandTimeout(LONG).adaptiveRetention(false).confirmedUnlock(bySession));
        DistributedReentrantLock lock =
                bySession ? lock(session, NAME) : free(session.lock(NAME, LockOptions.confirmUnlock()));
        lock.lock();
        proxy().delayRequests(Requests.release(NAME), LATE, 1);
        lock.unlock();
        assertThat(holder(NAME)).isEmpty();
    }

    /** The session's next request would find the name in use, and a second one would be needed. */
    @Test
    void theNextLockDoesNotOvertakeIt() throws IOException {
        DistributedReentrantLock lock = released(patient());
        lock.lock();
        lock.unlock();
        awaitFree(NAME);
        try (var monitor = new RedisMonitor(server())) {
            lock.lock();
            proxy().delayRequests(Requests.release(NAME), LATE, 1);
            lock.unlock();
            lock.lock();
            lock.unlock();
            awaitFree(NAME);
            List<Command> scripts = monitor.commands().stream()
                    .filter(command -> command.isScriptOn(NAME))
                    .toList();
            assertThat(scripts).as("two takes, two drops").hasSize(4);
        }
    }

    @Test
    void neitherDoesTryLock() {
        DistributedReentrantLock lock = released(patient());
        for (int i = 0; i < 5; i++) {
            lock.lock();
            proxy().delayRequests(Requests.release(NAME), LATE, 1);
            lock.unlock();
            assertThat(lock.tryLock()).isTrue();
            lock.unlock();
        }
    }

    /** Its release is under way: who asks meanwhile hears that nobody is inside, as soon as that is confirmed. */
    @Test
    void tryLockElsewhereSucceeds() {
        Recorder recorder = new Recorder();
        DistributedReentrantLock lock = lock(patient(), NAME);
        DistributedReentrantLock other = lock(
                over(
                        client(server().url()),
                        builder -> builder.commandTimeout(LONG).listener(recorder)),
                NAME);
        Actor elsewhere = actor("elsewhere");
        lock.lock();
        proxy().delayRequests(Requests.release(NAME), LATE, 1);
        lock.unlock();
        if (elsewhere.<Boolean>get(other::tryLock)) {
            elsewhere.run(other::unlock);
        } else {
            await("told").until(() -> recorder.count(Recorder.Kind.UNANSWERED) == 1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLostReleaseIsRepeated(boolean isExecuted) {
        DistributedReentrantLock lock = lock(patient(), NAME);
        Recorder recorder = new Recorder();
        // The release times out before it is repeated.
        DistributedReentrantLock told = lock(impatient(builder -> builder.listener(recorder)), NAME);
        told.lock();
        if (isExecuted) {
            proxy().dropReplies(Requests.release(NAME), 1, Loss.MUTE);
        } else {
            proxy().dropRequests(Requests.release(NAME), 1, Loss.MUTE);
        }
        told.unlock();
        awaitFree(NAME);
        lock.lock();
        lock.unlock();
        assertThat(recorder.count(Recorder.Kind.LOST_UNNOTICED)).isZero();
    }

    @Test
    void closingTheSessionWaitsForIt() {
        Interlock session = patient();
        DistributedReentrantLock lock = session.lock(NAME);
        lock.lock();
        proxy().delayRequests(Requests.release(NAME), LATE, 1);
        lock.unlock();
        session.close();
        assertThat(holder(NAME)).isEmpty();
    }

    /** So that an outage, or a server that is too slow, doesn't have them pile up. */
    @Test
    void whoUnlocksWaitsWhileTooManyAreUnderWay() {
        Interlock session = patient();
        List<DistributedReentrantLock> locks = IntStream.rangeClosed(0, MOST)
                .mapToObj(i -> lock(session, NAME + i))
                .toList();
        Actor thread = actor("unlocks");
        thread.run(() -> locks.forEach(DistributedReentrantLock::lock));
        proxy().stall();
        thread.run(() -> locks.subList(0, MOST).forEach(DistributedReentrantLock::unlock));
        CompletableFuture<Boolean> last = thread.begin(locks.get(MOST)::unlock);
        await("waits").until(() -> thread.thread().getState() == Thread.State.TIMED_WAITING);
        assertThat(last).isNotDone();
        proxy().resume();
        assertThat(last).succeedsWithin(PATIENCE);
    }
}
