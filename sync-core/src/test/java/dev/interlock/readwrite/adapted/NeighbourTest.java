package dev.interlock.readwrite.adapted;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an adapted lock, another session's and a plain {@code RReadWriteLock} are to each other. */
@DisplayName("an adapted RReadWriteLock and its neighbours")
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
@Timely
class NeighbourTest extends AdaptedFixture {
    private static final Duration AT_ONCE = Duration.ofMillis(1_500);

    enum Pair {
        ADAPTED_ADAPTED,
        ADAPTED_PLAIN,
        PLAIN_ADAPTED
    }

    private ReadWriteLock first(Pair pair) {
        return pair == Pair.PLAIN_ADAPTED ? plain : lock;
    }

    private ReadWriteLock second(Pair pair) {
        return pair == Pair.ADAPTED_PLAIN ? plain : rival;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("readers read beside each other; a writer excludes all")
    void excludeAndShare(Pair pair) {
        ReadWriteLock here = first(pair);
        ReadWriteLock there = second(pair);

        here.readLock().lock();
        assertThat(there.readLock().tryLock()).isTrue();
        assertTaken(there.writeLock());
        there.readLock().unlock();
        assertTaken(there.writeLock());
        here.readLock().unlock();
        assertFree(there.writeLock());

        here.writeLock().lock();
        assertTaken(there.readLock());
        assertTaken(there.writeLock());
        here.writeLock().unlock();
        assertThat(there.readLock().tryLock()).isTrue();
        there.readLock().unlock();
    }

    private static void assertEndsAtOnce(Running<Boolean> running) {
        long start = System.nanoTime();
        running.result();
        assertWithin(running.thread().getName(), AT_ONCE, Duration.ofNanos(System.nanoTime() - start));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("wake each other long before a lease is over")
    void wakeEachOther(Pair pair) {
        ReadWriteLock here = first(pair);
        ReadWriteLock there = second(pair);
        for (Lock held : new Lock[] {here.readLock(), here.writeLock()}) {
            held.lock();
            Running<Boolean> writer = visit("writer", there.writeLock());
            assertThat(writer.endsWithin(SHORT)).isFalse();
            held.unlock();
            assertEndsAtOnce(writer);
        }
        here.writeLock().lock();
        Running<Boolean> reader = visit("reader", there.readLock());
        assertThat(reader.endsWithin(SHORT)).isFalse();
        here.writeLock().unlock();
        assertEndsAtOnce(reader);
    }

    @Test
    @DisplayName("a downgrade lets in all readers that wait, at once, and no writer")
    void downgradeCallsReaders() {
        lock.writeLock().lock();
        Running<Boolean> besides = visit("reader of the session", lock.readLock());
        Running<Boolean> elsewhere = visit("reader of another session", rival.readLock());
        Running<Boolean> neighbour = visit("plain reader", plain.readLock());
        Stream.of(besides, elsewhere, neighbour)
                .forEach(reader -> assertThat(reader.endsWithin(SHORT)).isFalse());

        lock.readLock().lock();
        lock.writeLock().unlock();

        Stream.of(besides, elsewhere, neighbour).forEach(NeighbourTest::assertEndsAtOnce);
        assertTaken(rival.writeLock());
        assertTaken(plain.writeLock());
        lock.readLock().assertHeld();
        lock.readLock().unlock();
        assertFree(plain.writeLock());
    }

    @Test
    @DisplayName("readers of one JVM that are never all gone don't keep out a writer of another one")
    void overlappingReadersStarveNobody() {
        var done = new CountDownLatch(1);
        Stream<Running<Boolean>> readers = Stream.of("a", "b", "c", "d", "e", "f")
                .map(reader -> threads.start(reader, () -> {
                    while (done.getCount() > 0) {
                        lock.readLock().lock();
                        try {
                            done.await(7, TimeUnit.MILLISECONDS);
                        } finally {
                            lock.readLock().unlock();
                        }
                    }
                }));
        var running = readers.toList();
        try {
            await("they read").until(() -> lock.getReadLockCount() >= 3);
            for (Lock writer : new Lock[] {plain.writeLock(), rival.writeLock()}) {
                Running<Boolean> visit = visit("writer", writer);
                assertThat(visit.endsWithin(PATIENCE)).isTrue();
                visit.result();
            }
        } finally {
            done.countDown();
        }
        running.forEach(Running::result);
    }

    @Test
    @DisplayName("who reads for long keeps other readers of his JVM waiting for a moment only, and no tryLock()")
    void longReaderIsNoObstacle() {
        lock.readLock().lock();
        for (int i = 0; i < 20; i++) {
            assertEndsAtOnce(visit("waits", lock.readLock()));
            assertThat(threads.start("asks", () -> {
                                boolean entered = lock.readLock().tryLock();
                                if (entered) {
                                    lock.readLock().unlock();
                                }
                                return entered;
                            })
                            .result())
                    .isTrue();
        }
        lock.readLock().unlock();
    }

    private Running<Boolean> visit(String visitor, Lock view) {
        return threads.start(visitor, () -> {
            view.lock();
            view.unlock();
        });
    }
}
