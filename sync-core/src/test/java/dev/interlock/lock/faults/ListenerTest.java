package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.SyncListener;
import dev.interlock.testing.Actor;
import dev.interlock.testing.MovableTicker;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.Timers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RedissonClient;

/** What a session tells its listener, with which numbers; and that a bad listener is nobody's problem but its own. */
class ListenerTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final int FEW = 20;

    @Test
    void whatHappensIsToldAsItHappens() {
        Recorder recorder = new Recorder();
        Interlock session =
                session(b -> b.listener(recorder).lease(Duration.ofSeconds(3)).handoffSlice(Duration.ofHours(1)));
        DistributedReentrantLock lock = lock(session, NAME);
        Actor first = actor("first");
        Actor second = actor("second");
        first.run(lock::lock);
        assertThat(recorder.count(Recorder.Kind.ACQUIRED_REMOTELY)).isEqualTo(1);
        first.run(lock::lock); // a re-entry is no acquisition
        first.run(lock::unlock);
        CompletableFuture<Boolean> entered = second.begin(lock::lock);
        awaitQueued(lock, second);
        Duration waited = Duration.ofMillis(1_200); // over a renewal
        long begun = System.nanoTime();
        await("a renewal")
                .until(() -> recorder.count(Recorder.Kind.RENEWED) > 0 && System.nanoTime() - begun > waited.toNanos());
        first.run(lock::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(recorder.of(Recorder.Kind.HANDED_OFF))
                .singleElement()
                .satisfies(event -> assertThat(event.name()).isEqualTo(NAME));
        assertThat(recorder.of(Recorder.Kind.ACQUIRED_LOCALLY))
                .singleElement()
                .satisfies(event -> assertThat(event.nanos()).isBetween(waited.toNanos(), PATIENCE.toNanos()));
        assertThat(recorder.of(Recorder.Kind.RENEWED))
                .allSatisfy(event -> assertThat(event.nanos())
                        .isBetween(1L, Duration.ofSeconds(3).toNanos()));
        assertThat(recorder.count(Recorder.Kind.RELEASED)).isZero();
        second.run(lock::unlock);
        assertThat(recorder.of(Recorder.Kind.RELEASED))
                .singleElement()
                .satisfies(event -> assertThat(event.nanos()).isBetween(waited.toNanos(), PATIENCE.toNanos()));
        assertThat(recorder.count(Recorder.Kind.ACQUIRED_REMOTELY)).isEqualTo(1);
        assertThat(List.of(
                        recorder.count(Recorder.Kind.LOST),
                        recorder.count(Recorder.Kind.RENEWAL_FAILED),
                        recorder.count(Recorder.Kind.UNREACHABLE)))
                .containsOnly(0);
    }

    /** The wait for another session counts as much as that for a thread of one's own. */
    @Test
    void theWaitForAnotherSessionIsMeasured() {
        Recorder recorder = new Recorder();
        DistributedReentrantLock lock = lock(session(b -> b.listener(recorder)), NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor actor = actor("actor");
        other.lock();
        long begun = System.nanoTime();
        CompletableFuture<Boolean> entered = queue(actor, lock);
        await("a while").during(Duration.ofMillis(300)).until(() -> !entered.isDone());
        other.unlock();
        assertThat(entered).succeedsWithin(PROMPTLY);
        long atMost = System.nanoTime() - begun;
        assertThat(recorder.of(Recorder.Kind.ACQUIRED_REMOTELY))
                .singleElement()
                .satisfies(event -> assertThat(event.nanos())
                        .isBetween(Duration.ofMillis(300).toNanos(), atMost));
        actor.run(lock::unlock);
    }

    /** Attempts that fail are no acquisitions. */
    @Test
    void whoGetsNothingIsNotTold() throws InterruptedException {
        Recorder recorder = new Recorder();
        DistributedReentrantLock lock = lock(session(b -> b.listener(recorder)), NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor holder = actor("holder");
        holder.run(other::lock);
        assertThat(lock.tryLock()).isFalse();
        assertThat(lock.tryLock(100, TimeUnit.MILLISECONDS)).isFalse();
        holder.run(other::unlock);
        assertThat(recorder.count(Recorder.Kind.ACQUIRED_LOCALLY)).isZero();
        assertThat(recorder.count(Recorder.Kind.ACQUIRED_REMOTELY)).isZero();
        assertThat(recorder.count(Recorder.Kind.RELEASED)).isZero();
    }

    /** Renewals that get no answer are told with what is left of the lease, which shrinks. */
    @Test
    @Tag("proof")
    void failedRenewalsAreToldWithWhatIsLeft() {
        Recorder recorder = new Recorder();
        // Two renewals time out within the lease.
        DistributedReentrantLock lock = lock(impatient(b -> b.listener(recorder).lease(Duration.ofSeconds(6))), NAME);
        lock.lock();
        proxy().stall();
        await("failures").until(() -> recorder.count(Recorder.Kind.RENEWAL_FAILED) >= 2);
        proxy().heal();
        int before = recorder.count(Recorder.Kind.RENEWED);
        await("renewed").until(() -> recorder.count(Recorder.Kind.RENEWED) > before);
        List<Long> left = recorder.of(Recorder.Kind.RENEWAL_FAILED).stream()
                .map(Recorder.Event::nanos)
                .toList();
        assertThat(left.get(1)).isLessThan(left.get(0));
        assertThat(left.get(0)).isBetween(0L, Duration.ofSeconds(5).toNanos());
        lock.assertHeld();
        lock.unlock();
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
    }

    /** Fails at everything. */
    private static final class Bad implements SyncListener {
        private final boolean error;
        private final AtomicInteger calls = new AtomicInteger();

        Bad(boolean error) {
            this.error = error;
        }

        private void fail() {
            calls.incrementAndGet();
            if (error) {
                throw new AssertionError("a bad listener");
            }
            throw new IllegalStateException("a bad listener");
        }

        @Override
        public void acquired(String name, long waitedNanos, boolean local) {
            fail();
        }

        @Override
        public void released(String name, long tenureNanos) {
            fail();
        }

        @Override
        public void handedOff(String name) {
            fail();
        }

        @Override
        public void renewed(String name, long validNanos) {
            fail();
        }

        @Override
        public void lost(LeaseLostException loss) {
            fail();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aListenerThatThrowsHurtsNothing(boolean error) {
        Bad bad = new Bad(error);
        AtomicInteger heard = new AtomicInteger();
        Interlock session = session(b -> b.listener(bad).lease(Duration.ofSeconds(3)));
        DistributedReentrantLock lock = lock(session, NAME);
        lock.onLost(loss -> {
            throw new IllegalStateException("a bad listener");
        });
        lock.onLost(loss -> heard.incrementAndGet());
        Actor first = actor("first");
        Actor second = actor("second");
        first.run(lock::lock);
        CompletableFuture<Boolean> entered = second.begin(lock::lock);
        awaitQueued(lock, second);
        await("renewals").until(() -> bad.calls.get() >= 3);
        first.run(lock::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(second.get(lock::getHoldCount)).isEqualTo(1);
        second.run(lock::assertHeld);
        second.run(lock::unlock);
        awaitFree(NAME);
        assertThat(lock.isLocked()).isFalse();
        first.run(lock::lock);
        server().command("DEL", NAME);
        await("loss").until(() -> heard.get() == 1);
        assertThat(first.get(() -> {
                    try {
                        lock.unlock();
                        return false;
                    } catch (LeaseLostException e) {
                        return true;
                    }
                }))
                .isTrue();
    }

    /**
     * A listener that never returns, on the thread that serves listeners only: leases are renewed, names change hands.
     */
    @Test
    @Tag("proof")
    void aListenerThatBlocksHurtsNothing() {
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger blocked = new AtomicInteger();
        SyncListener blocking = new SyncListener() {
            @Override
            public void renewed(String name, long validNanos) {
                blocked.incrementAndGet();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        Duration lease = Duration.ofSeconds(3);
        DistributedReentrantLock lock = lock(session(b -> b.listener(blocking).lease(lease)), NAME);
        DistributedReentrantLock other = lock(session(), NAME);
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(lock::lock);
        await("blocked").until(() -> blocked.get() == 1);
        CompletableFuture<Boolean> entered = waiter.begin(other::lock);
        await("leases").during(lease.multipliedBy(2)).until(() -> !entered.isDone());
        holder.run(lock::assertHeld);
        holder.run(lock::unlock);
        assertThat(entered).succeedsWithin(PROMPTLY);
        waiter.run(other::unlock);
        assertThat(blocked).hasValue(1);
        end.countDown();
    }

    /** Renewals go on, and each is reported; a thousand reports wait, however long that takes. Losses are all told. */
    @Test
    @Tag("proof")
    void aListenerThatBlocksHasFewReportsWait() {
        CountDownLatch end = new CountDownLatch(1);
        List<LeaseLostException> losses = new CopyOnWriteArrayList<>();
        SyncListener blocking = new SyncListener() {
            @Override
            public void renewed(String name, long validNanos) {
                Uninterruptibles.awaitUninterruptibly(end);
            }

            @Override
            public void lost(LeaseLostException loss) {
                losses.add(loss);
            }
        };
        Interlock session = session(b -> b.listener(blocking).lease(Duration.ofSeconds(6)));
        Actor holder = actor("holder");
        List<DistributedReentrantLock> locks =
                IntStream.range(0, 600).mapToObj(i -> lock(session, NAME + i)).toList();
        holder.run(() -> locks.forEach(Lock::lock));
        try {
            long before = server().commandCalls("evalsha");
            await("many renewals")
                    .atMost(PATIENCE.multipliedBy(3))
                    .until(() -> server().commandCalls("evalsha") - before > 3L * locks.size());
            int untold = Timers.untoldOf(session);
            assertThat(untold).isBetween(1_000, 1_000 + FEW);
            server().command("DEL", NAME + 7);
            await("a loss").until(() -> Timers.untoldOf(session) > untold);
        } finally {
            end.countDown();
        }
        await("told")
                .until(() -> losses.stream().anyMatch(loss -> loss.lockName().equals(NAME + 7)));
        holder.run(() -> locks.forEach(lock -> {
            try {
                lock.unlock();
            } catch (LeaseLostException e) {
                assertThat(losses).extracting(LeaseLostException::lockName).contains(lock.getName());
            }
        }));
    }

    /** A turn that ends long after the unlock, and so on a thread of the session's. */
    enum Kept {
        RETAINED {
            @Override
            Lock lock(Interlock session, RedissonClient client) {
                return session.lock("kept", LockOptions.retain(Duration.ofMillis(100)));
            }
        },
        READ {
            @Override
            Lock lock(Interlock session, RedissonClient client) {
                return session.readWriteLock("kept").readLock();
            }
        },
        ADAPTED_READ {
            @Override
            Lock lock(Interlock session, RedissonClient client) {
                return session.adapt(client.getReadWriteLock("kept")).readLock();
            }
        };

        abstract Lock lock(Interlock session, RedissonClient client);
    }

    /** The thread that ends such a turn renews leases and sees to all other names: a listener must not keep it. */
    @ParameterizedTest
    @EnumSource
    void aListenerThatBlocksAtTheEndOfAKeptTurnHurtsNothing(Kept kept) {
        CountDownLatch end = new CountDownLatch(1);
        AtomicReference<Thread> blocked = new AtomicReference<>();
        SyncListener blocking = new SyncListener() {
            @Override
            public void released(String name, long tenureNanos) {
                if (name.equals("kept")) {
                    blocked.set(Thread.currentThread());
                    Uninterruptibles.awaitUninterruptibly(end);
                }
            }
        };
        Duration lease = Duration.ofSeconds(30);
        MovableTicker ticker = new MovableTicker();
        RedissonClient client = client(server().url());
        // Long enough for a reader to leave within it on a busy machine.
        Duration slice = Duration.ofSeconds(1);
        Interlock session = over(
                client,
                b -> b.listener(blocking).lease(lease).handoffSlice(slice).ticker(ticker));
        DistributedReentrantLock lock = lock(session, NAME);
        Actor holder = actor("holder");
        Actor leaver = actor("leaver");
        holder.run(lock::lock);
        Lock other = kept.lock(session, client);
        leaver.run(other::lock);
        leaver.run(other::unlock);
        try {
            await("blocked").until(() -> blocked.get() != null);
            assertThat(blocked.get()).isNotEqualTo(leaver.thread());
            for (int i = 0; i < 3; i++) {
                server().command("PEXPIRE", NAME, "20000");
                // Less than half a lease, since the answer to the last renewal may still be on its way.
                ticker.advance(lease.dividedBy(3).plusSeconds(1));
                await("renewed").until(() -> pttl(NAME) > 20_000);
                holder.run(lock::assertHeld);
            }
        } finally {
            end.countDown();
        }
        holder.run(lock::unlock);
    }
}
