package dev.interlock.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.LockOptions;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.Timers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** A name that changes hands leaves no timer behind, however late that would have run. */
class TimersTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int TURNS = 100;

    /** What beats, what is repeated, and what the current turn has. */
    private static final int FEW = 20;

    private static InterlockBuilder longTurns(InterlockBuilder builder) {
        return builder.handoffSlice(HOUR);
    }

    private interface Turn {
        void take(Interlock session);
    }

    /** Sessions take turns. */
    private static void assertFewTimers(List<Interlock> sessions, Turn turn) {
        for (int i = 0; i < TURNS; i++) {
            sessions.forEach(turn::take);
        }
        assertThat(sessions)
                .allSatisfy(session -> assertThat(Timers.pendingOf(session)).isLessThan(FEW));
    }

    private static void lockAndUnlock(Lock lock) {
        lock.lock();
        lock.unlock();
    }

    @Test
    void retainedLocks() {
        List<Interlock> sessions = List.of(session(), session());
        assertFewTimers(sessions, session -> lockAndUnlock(session.lock(NAME, LockOptions.retain(HOUR))));
        sessions.forEach(Interlock::close);
    }

    @Test
    void leasesOfFixedLength() {
        assertFewTimers(List.of(session(), session()), session -> {
            DistributedReentrantLock lock = session.lock(NAME);
            lock.lock(2_900, TimeUnit.MILLISECONDS);
            lock.unlock();
        });
    }

    /** Readers leave a turn for others, whose writer ends it. */
    @Test
    void turnsOfReadersAndWriters() {
        assertFewTimers(List.of(session(TimersTest::longTurns), session(TimersTest::longTurns)), session -> {
            DistributedReadWriteLock lock = session.readWriteLock(NAME);
            lockAndUnlock(lock.readLock());
            lockAndUnlock(lock.writeLock());
        });
    }

    @Test
    void adaptedReadWriteLocks() {
        RedissonClient client = client(server().url());
        Interlock session = over(client, TimersTest::longTurns);
        assertFewTimers(List.of(session), same -> {
            DistributedReadWriteLock lock = same.adapt(client.getReadWriteLock(NAME));
            lockAndUnlock(lock.readLock());
            lockAndUnlock(lock.writeLock());
        });
    }

    /** A lease so short is watched by a timer at all times; by one. */
    @Test
    void shortLeases() {
        Recorder recorder = new Recorder();
        Interlock session =
                session(builder -> builder.lease(Duration.ofSeconds(2)).listener(recorder));
        List<DistributedReentrantLock> locks = IntStream.range(0, 2 * FEW)
                .mapToObj(i -> lock(session, NAME + i))
                .toList();
        locks.forEach(Lock::lock);
        await("renewals").until(() -> recorder.count(Recorder.Kind.RENEWED) >= 3 * locks.size());
        assertThat(Timers.pendingOf(session)).isLessThan(locks.size() + FEW);
        locks.forEach(Lock::unlock);
        assertThat(Timers.pendingOf(session)).isLessThan(FEW);
    }
}
