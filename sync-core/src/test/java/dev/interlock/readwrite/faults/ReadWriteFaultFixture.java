package dev.interlock.readwrite.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What tests of read-write locks need of a faulty network. */
abstract class ReadWriteFaultFixture extends FaultFixture {
    static final String NAME = "stock";
    static final String KEY = "interlock:{" + NAME + "}:rw";

    /** For so long a session keeps what its readers have left. */
    static final Duration KEPT = Duration.ofSeconds(60);

    private final List<DistributedReadWriteLock> locks = new ArrayList<>();

    /** What the tests with one session are about: its lock, and the same lock as another session has it. */
    Interlock session;

    DistributedReadWriteLock lock;
    DistributedReadWriteLock rival;

    final void use(Interlock one) {
        session = one;
        lock = of(one);
        rival = of(undisturbed());
    }

    /** Ends what this thread reads, and asserts that nothing of it stays. */
    final void endReading() {
        lock.readLock().assertHeld();
        lock.readLock().unlock();
        awaitFree(KEY);
        assertAvailable();
    }

    /** Ends what this thread writes, and asserts that nothing of it stays. */
    final void endWriting() {
        lock.writeLock().assertHeld();
        lock.writeLock().unlock();
        awaitFree(KEY);
        assertAvailable();
    }

    /** Has Redis know all scripts that these tests wait for. */
    @BeforeEach
    void useAllScripts() {
        use(undisturbed());
        Actor other = actor("contender");
        lock.writeLock().lock();
        CompletableFuture<Boolean> entered = other.begin(rival.readLock()::lock);
        awaitWaiting(1);
        lock.readLock().lock();
        lock.writeLock().unlock();
        assertThat(entered).succeedsWithin(PATIENCE);
        lock.readLock().unlock();
        other.run(rival.readLock()::unlock);
        awaitFree(KEY);
    }

    @AfterEach
    void leaveNoLock() {
        proxy().heal();
        for (DistributedReadWriteLock lock : isAborted() ? List.<DistributedReadWriteLock>of() : locks) {
            assertThat(lock.getReadLockCount()).as("readers of %s", lock).isZero();
            assertThat(lock.isWriteLocked()).as("%s is written", lock).isFalse();
            assertThat(lock.hasQueuedThreads())
                    .as("%s has queued threads", lock)
                    .isFalse();
        }
        locks.clear();
    }

    /** The lock of this name, which has to be free at the end of the test. */
    final DistributedReadWriteLock of(Interlock session) {
        DistributedReadWriteLock lock = session.readWriteLock(NAME);
        locks.add(lock);
        return lock;
    }

    /** A session that keeps what its readers leave until another one wants it. */
    final Interlock keeping() {
        return session(builder -> builder.handoffSlice(KEPT));
    }

    @Override
    protected String queueKey() {
        return "interlock:queue:" + KEY;
    }

    final void assertRead(Interlock... by) {
        String holders = holder(KEY);
        assertThat(holders.split("=", -1)).hasSize(2 * by.length);
        assertThat(by).allSatisfy(session -> assertThat(holders).contains(session.id() + ":r="));
    }

    final void assertWritten(Interlock by) {
        assertThat(holder(KEY)).matches(by.id() + ":\\d+=1");
    }

    /** Asserts that another session can have it for itself: nobody has anything of it any more. */
    final void assertAvailable() {
        DistributedReadWriteLock free = of(undisturbed());
        Actor other = actor("other");
        assertThat(other.get(() -> free.writeLock().tryLock(PROMPTLY.toMillis(), TimeUnit.MILLISECONDS)))
                .as("another session gets it")
                .isTrue();
        other.run(free.writeLock()::unlock);
        awaitFree(KEY);
    }

    /** Asserts that nobody else can write. */
    final void assertNobodyElseWrites(DistributedReadWriteLock rival) {
        assertThat(actor("rival").get(() -> rival.writeLock().tryLock())).isFalse();
    }
}
