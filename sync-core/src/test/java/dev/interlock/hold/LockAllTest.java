package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TestThreads.Running;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Several names as a {@link Lock}. */
@DisplayName("a lock of several names")
class LockAllTest extends HoldFixture {
    private static final int ROUNDS = 200;

    private String a;
    private String b;
    private Lock lock;

    @BeforeEach
    void begin() {
        String prefix = freshName() + ":";
        a = prefix + "a";
        b = prefix + "b";
        lock = mine.lockAll(List.of(b, a));
    }

    /** Has another thread try it, since the one that has it would enter again. */
    private boolean isFree(Lock tried) {
        return threads.start("trying", () -> {
                    boolean isFree = tried.tryLock(SHORT.toMillis(), TimeUnit.MILLISECONDS);
                    if (isFree) {
                        tried.unlock();
                    }
                    return isFree;
                })
                .result();
    }

    @Test
    @DisplayName("is reentrant")
    void isReentrant() {
        for (int i = 0; i < 5; i++) {
            lock.lock();
            assertThat(lock.tryLock()).isTrue();
            lock.unlock();
        }
        for (int i = 0; i < 5; i++) {
            assertThat(isFree(lock)).isFalse();
            assertThat(isFree(other.lockAll(List.of(a, b)))).isFalse();
            lock.unlock();
        }
        assertThat(isFree(lock)).isTrue();
        assertThat(isFree(other.lockAll(List.of(a, b)))).isTrue();
    }

    @Test
    @DisplayName("is unlocked by its owner only")
    void isUnlockedByItsOwner() {
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        lock.lock();
        threads.start(
                        "stranger",
                        () -> assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class))
                .result();
        assertThat(isFree(lock)).isFalse();
        lock.unlock();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    @DisplayName("excludes others that have one name in common with it, in the same session as in others")
    void excludesOthers() {
        lock.lock();
        for (Interlock session : List.of(mine, other)) {
            for (String name : List.of(a, b)) {
                assertThat(isFree(session.lock(name))).isFalse();
                assertThat(isFree(session.lockAll(List.of(name)))).isFalse();
                assertThat(session.holds().tryAcquire(name, SHORT))
                        .succeedsWithin(PATIENCE)
                        .matches(granted -> granted.isEmpty());
            }
        }
        lock.unlock();
        for (Interlock session : List.of(mine, other)) {
            DistributedReentrantLock dropIn = session.lock(b);
            dropIn.lock();
            assertThat(isFree(lock)).isFalse();
            dropIn.unlock();
            assertThat(isFree(lock)).isTrue();
        }
    }

    @Test
    @DisplayName("is had by a thread that tries it only if all names are free")
    void isTried() throws InterruptedException {
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
        assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isTrue();
        lock.unlock();
        Hold hold = other.holds().hold(b);
        assertThat(lock.tryLock()).isFalse();
        assertThat(lock.tryLock(-1, TimeUnit.SECONDS)).isFalse();
        assertThat(lock.tryLock(50, TimeUnit.MILLISECONDS)).isFalse();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        // It kept none.
        other.holds().hold(a).close();
        Running<Boolean> patient = threads.start("patient", () -> {
            assertThat(lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
            lock.unlock();
        });
        assertThat(patient.endsWithin(SHORT)).isFalse();
        hold.close();
        assertThat(patient.result()).isTrue();
    }

    @Test
    @DisplayName("isn't given to a thread that is interrupted, before or while it waits")
    void isInterrupted() throws InterruptedException {
        Hold hold = other.holds().hold(b);
        Running<Boolean> waiting = threads.start("waiting", () -> {
            assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
            assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        });
        assertThat(waiting.endsWithin(SHORT)).isFalse();
        waiting.thread().interrupt();
        waiting.result();
        other.holds().hold(a).close();
        hold.close();
        for (TestThreads.Action entry :
                List.<TestThreads.Action>of(lock::lockInterruptibly, () -> lock.tryLock(1, TimeUnit.SECONDS))) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(entry::run).isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
        }
        assertThat(isFree(lock)).isTrue();
    }

    @Test
    @DisplayName("is given by lock() to a thread that is interrupted, which stays so")
    void lockIgnoresInterrupts() throws InterruptedException {
        Hold hold = other.holds().hold(b);
        Running<Boolean> waiting = threads.start("waiting", () -> {
            lock.lock();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            lock.unlock();
        });
        assertThat(waiting.endsWithin(SHORT)).isFalse();
        waiting.thread().interrupt();
        assertThat(waiting.endsWithin(SHORT)).isFalse();
        hold.close();
        waiting.result();
        Thread.currentThread().interrupt();
        assertThat(lock.tryLock()).isTrue();
        assertThat(Thread.interrupted()).isTrue();
        lock.unlock();
    }

    @Test
    @DisplayName("is refused to a thread that has the drop-in lock of one name, and stays free")
    void isRefusedToTheOwnerOfTheDropIn() {
        DistributedReentrantLock dropIn = mine.lock(b);
        dropIn.lock();
        for (TestThreads.Action entry : List.<TestThreads.Action>of(
                lock::lock, lock::lockInterruptibly, lock::tryLock, () -> lock.tryLock(1, TimeUnit.SECONDS))) {
            assertThatThrownBy(entry::run)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(b);
        }
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        dropIn.unlock();
        assertThat(isFree(lock)).isTrue();
    }

    @Test
    @DisplayName("tells a loss when it is unlocked, and is free then")
    void tellsALoss() {
        Lock lost = quick.lockAll(List.of(a, b));
        lost.lock();
        redis.command("DEL", b);
        await("lost").atMost(PATIENCE).until(() -> quick.heldLocks() == 1);
        assertThatThrownBy(lost::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lost::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(isFree(lost)).isTrue();
        assertThat(isFree(other.lockAll(List.of(a, b)))).isTrue();
    }

    @Test
    @DisplayName("has no conditions")
    void hasNoConditions() {
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @DisplayName("causes no deadlock, in whatever order threads name what they lock")
    void causesNoDeadlock() {
        for (List<Interlock> pair : List.of(List.of(mine, mine), List.of(mine, other))) {
            int[] sections = {0};
            List<Lock> locks =
                    List.of(pair.get(0).lockAll(List.of(a, b)), pair.get(1).lockAll(List.of(b, a)), lock);
            List<Running<Boolean>> running = locks.stream()
                    .map(each -> threads.start("locking", () -> {
                        for (int i = 0; i < ROUNDS; i++) {
                            each.lock();
                            // Nothing but the lock guards it.
                            sections[0]++;
                            each.unlock();
                        }
                    }))
                    .toList();
            running.forEach(Running::result);
            assertThat(sections[0]).isEqualTo(locks.size() * ROUNDS);
        }
    }
}
