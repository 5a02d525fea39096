package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An untimed {@code tryLock()} overtakes what others have given up before it, or its own session has: a release, and
 * the withdrawals of threads whose wait is over. It isn't refused by them.
 */
class LateWithdrawalTest extends FaultFixture {
    private static final String NAME = "orders";
    private static final int ROUNDS = 10;
    private static final long WAIT_MILLIS = 20;
    private static final Duration LATE = Duration.ofMillis(30);
    private static final Duration LATER = LATE.multipliedBy(2);

    private final Recorder recorder = new Recorder();
    private int refused;

    private Interlock told() {
        return session(builder -> builder.listener(recorder).commandTimeout(PATIENCE));
    }

    private Interlock patient() {
        return session(builder -> builder.commandTimeout(PATIENCE));
    }

    private void delayRelease(String key, Interlock by, Duration delay) {
        proxy().delayRequests(Requests.release(key).and(Requests.of(by)), delay, 1);
    }

    private static void assertTimesOut(Actor thread, Lock lock) {
        assertThat(thread.<Boolean>get(() -> lock.tryLock(WAIT_MILLIS, TimeUnit.MILLISECONDS)))
                .isFalse();
    }

    private void tries(Actor thread, Lock lock) {
        if (thread.<Boolean>get(lock::tryLock)) {
            thread.run(lock::unlock);
        } else {
            refused++;
        }
    }

    /** On a slow machine one may be refused for its silence, and that is told. */
    private void assertNoneWasRefused() {
        assertThat(refused).as("of %d", ROUNDS).isLessThan(ROUNDS / 2);
        await("told of each").until(() -> recorder.count(Recorder.Kind.UNANSWERED) == refused);
    }

    /** The request hands the lock to a ticket whose thread has left. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aTryPassesThreadsOfOtherSessionsThatHaveLeft(int leavers) {
        Interlock taking = told();
        Interlock[] leaving = new Interlock[leavers];
        Actor[] threads = new Actor[leavers];
        for (int i = 0; i < leavers; i++) {
            leaving[i] = patient();
            threads[i] = actor("leaver-" + i);
        }
        DistributedReentrantLock lock = lock(taking, NAME);
        Actor taker = actor("taker");
        for (int round = 0; round < ROUNDS; round++) {
            taker.run(lock::lock);
            for (int i = 0; i < leavers; i++) {
                delayRelease(NAME, leaving[i], LATER);
                assertTimesOut(threads[i], lock(leaving[i], NAME));
            }
            delayRelease(NAME, taking, LATE);
            taker.run(lock::unlock);
            tries(taker, lock);
            awaitFree(NAME);
        }
        assertNoneWasRefused();
    }

    /** The release of a fair lock hands it to a ticket of its own session, whose thread has left. */
    @Test
    void aTryPassesAThreadOfItsOwnSessionThatHasLeft() {
        Interlock session = told();
        DistributedReentrantLock lock = free(session.fairLock(NAME));
        Actor taker = actor("taker");
        Actor leaver = actor("leaver");
        for (int round = 0; round < ROUNDS; round++) {
            taker.run(lock::lock);
            delayRelease(NAME, session, LATER);
            assertTimesOut(leaver, lock);
            taker.run(lock::unlock);
            tries(taker, lock);
            awaitFree(NAME);
        }
        assertNoneWasRefused();
    }

    /** Readers are kept out by a writer that waits, but not by one that has left. */
    @Test
    void aReaderPassesAWriterThatHasLeft() {
        String key = "interlock:{" + NAME + "}:rw";
        Interlock leaving = patient();
        DistributedReadWriteLock read = undisturbed().readWriteLock(NAME);
        DistributedReadWriteLock left = leaving.readWriteLock(NAME);
        DistributedReadWriteLock tried = told().readWriteLock(NAME);
        Actor reader = actor("reader");
        Actor leaver = actor("leaver");
        Actor taker = actor("taker");
        for (int round = 0; round < ROUNDS; round++) {
            reader.run(read.readLock()::lock);
            delayRelease(key, leaving, LATER);
            assertTimesOut(leaver, left.writeLock());
            tries(taker, tried.readLock());
            reader.run(read.readLock()::unlock);
            awaitFree(key);
        }
        assertNoneWasRefused();
    }
}
