package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import dev.interlock.testing.MovableTicker;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RedissonClient;

/**
 * A machine is suspended: its ticker stands still, and its leases end in Redis meanwhile. Only its wall clock shows
 * that when it goes on. Here the wall clock is put forward, and what the session had is deleted; leases are so long
 * that no renewal is due by the ticker within the test.
 */
@Tag("proof")
class SuspendedMachineTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final Duration LEASE = Duration.ofSeconds(90);
    private static final Duration SUSPENSION = Duration.ofSeconds(100);

    private final MovableTicker wallClock = new MovableTicker();
    private Recorder recorder = new Recorder();

    @BeforeEach
    void hearOfThisTestOnly() {
        recorder = new Recorder();
    }

    @Override
    protected String lasting() {
        return super.lasting() + "|:semaphore(-retired|-sessions)?$|:barrier";
    }

    private Interlock suspendable() {
        return session(this::suspendable);
    }

    private InterlockBuilder suspendable(InterlockBuilder builder) {
        return builder.lease(LEASE).listener(recorder).ticker(System::nanoTime, wallClock);
    }

    private void suspend() {
        wallClock.advance(SUSPENSION);
    }

    /** The lease is over, as others see it. */
    private void end(String... keys) {
        server().command(Stream.concat(Stream.of("DEL"), Stream.of(keys)).toArray(String[]::new));
    }

    static Stream<Named<BiFunction<Interlock, RedissonClient, DistributedReentrantLock>>> locks() {
        return Stream.of(
                Named.of("lock", (session, client) -> session.lock(NAME)),
                Named.of("fair lock", (session, client) -> session.fairLock(NAME)),
                Named.of("adapted lock", (session, client) -> session.adapt(client.getLock(NAME))));
    }

    @ParameterizedTest
    @MethodSource("locks")
    void aHolderHearsThatItHasLostTheLock(BiFunction<Interlock, RedissonClient, DistributedReentrantLock> kind) {
        RedissonClient client = client(proxy().url());
        Interlock session = over(client, builder -> builder.lease(LEASE).ticker(System::nanoTime, wallClock));
        DistributedReentrantLock lock = free(kind.apply(session, client));
        DistributedReentrantLock rival = lock(undisturbed(), NAME);
        Actor other = actor("other");
        lock.lock();
        end(NAME);
        other.run(rival::lock);
        lock.assertHeld();
        suspend();
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::fencingToken).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        other.run(rival::assertHeld);
        other.run(rival::unlock);
    }

    @ParameterizedTest
    @MethodSource("locks")
    void aWallClockThatIsSetForwardEndsNothing(BiFunction<Interlock, RedissonClient, DistributedReentrantLock> kind) {
        RedissonClient client = client(proxy().url());
        Interlock session = over(client, builder -> builder.lease(LEASE).ticker(System::nanoTime, wallClock));
        DistributedReentrantLock lock = free(kind.apply(session, client));
        for (int i = 0; i < 3; i++) {
            lock.lock();
            suspend();
            lock.assertHeld();
            assertThat(lock.isRemotelyLocked()).isTrue();
            suspend();
            lock.unlock();
        }
    }

    @Test
    void anAlarmCostsARenewal() {
        DistributedReentrantLock lock = lock(suspendable(), NAME);
        lock.lock();
        int before = recorder.count(Recorder.Kind.RENEWED);
        suspend();
        await("renewal").until(() -> recorder.count(Recorder.Kind.RENEWED) == before + 1);
        proxy().dropRequests(
                        words -> words.contains(NAME), FaultProxy.ALWAYS, Loss.muteFor(SHORT_TIMEOUT.multipliedBy(3)));
        lock.assertHeld();
        assertThat(lock.fencingToken()).isPositive();
        proxy().heal();
        lock.unlock();
        assertThat(recorder.count(Recorder.Kind.RENEWED)).isEqualTo(before + 1);
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
    }

    @Test
    void aWallClockThatWasSetBackBeforeIsNoExcuse() {
        DistributedReentrantLock lock = lock(suspendable(), NAME);
        lock.lock();
        wallClock.advance(Duration.ofHours(-1));
        lock.assertHeld();
        end(NAME);
        suspend();
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void whileRedisIsSilentNothingIsCertain() {
        // The holder asks, and its question times out.
        DistributedReentrantLock lock = lock(impatient(this::suspendable), NAME);
        lock.lock();
        long token = lock.fencingToken();
        proxy().dropRequests(
                        words -> words.contains(NAME), FaultProxy.ALWAYS, Loss.muteFor(SHORT_TIMEOUT.multipliedBy(3)));
        suspend();
        assertThatThrownBy(lock::assertHeld)
                .isInstanceOf(RedisUnavailableException.class)
                .hasMessageContaining("'stock' is still locked by this thread");
        proxy().heal();
        await("answer").pollInSameThread().ignoreExceptions().untilAsserted(lock::assertHeld);
        assertThat(lock.fencingToken()).isEqualTo(token);
        lock.unlock();
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
    }

    /** Another lock of the session has had the clocks compared. */
    @Test
    void anUnlockInDoubtWaitsForItsAnswer() {
        Interlock session = suspendable();
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(session, "other");
        lock.lock();
        other.lock();
        end(NAME);
        suspend();
        other.assertHeld();
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        other.unlock();
    }

    @Test
    void nobodyEntersInDoubt() {
        Interlock session = suspendable();
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock beacon = lock(session, "beacon");
        DistributedReentrantLock rival = lock(undisturbed(), NAME);
        Actor other = actor("other");
        Actor next = actor("next");
        lock.lock();
        beacon.lock();
        CompletableFuture<Boolean> entered = next.begin(lock::lock);
        awaitQueued(lock, next);
        end(NAME);
        other.run(rival::lock);
        suspend();
        beacon.assertHeld();
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        awaitTickets(NAME, 1);
        assertThat(entered).isNotDone();
        other.run(rival::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        next.run(lock::assertHeld);
        next.run(lock::unlock);
        beacon.unlock();
    }

    /** Entering is never checked, but the lease renewer is soon there. */
    @Test
    void aKeptNameIsAskedForAtTheNextBeat() {
        Interlock session = suspendable();
        DistributedReentrantLock kept = free(session.lock(NAME, LockOptions.retain(Duration.ofHours(1))));
        DistributedReentrantLock beacon = lock(session, "beacon");
        DistributedReentrantLock rival = lock(undisturbed(), NAME);
        Actor other = actor("other");
        kept.lock();
        kept.unlock();
        beacon.lock();
        end(NAME);
        other.run(rival::lock);
        suspend();
        await("beat")
                .until(() -> recorder.of(Recorder.Kind.RENEWED).stream()
                        .anyMatch(event -> event.name().equals("beacon")));
        assertThat(kept.tryLock()).isFalse();
        other.run(rival::assertHeld);
        other.run(rival::unlock);
        beacon.unlock();
    }

    @Test
    void aFixedLeaseIsAskedForAndNotProlonged() {
        DistributedReentrantLock lock = lock(suspendable(), NAME);
        Duration lease = Duration.ofSeconds(60);
        lock.lock(lease.toMillis(), TimeUnit.MILLISECONDS);
        // By the ticker, there is more left.
        server().command("PEXPIRE", NAME, "40000");
        suspend();
        lock.assertHeld();
        assertThat(pttl(NAME)).isLessThanOrEqualTo(40_000);
        end(NAME);
        suspend();
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void readersAndWritersHearThatTheyHaveLostTheLock() {
        DistributedReadWriteLock lock = suspendable().readWriteLock(NAME);
        for (int i = 0; i < 2; i++) {
            lock.readLock().lock();
            suspend();
            lock.readLock().assertHeld();
            end("interlock:{stock}:rw", "interlock:readers:interlock:{stock}:rw");
            lock.readLock().assertHeld();
            suspend();
            assertThatThrownBy(lock.readLock()::assertHeld).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(lock.readLock()::unlock).isInstanceOf(LeaseLostException.class);
            lock.writeLock().lock();
            suspend();
            lock.writeLock().assertHeld();
            end("interlock:{stock}:rw");
            suspend();
            assertThatThrownBy(lock.writeLock()::fencingToken).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(lock.writeLock()::unlock).isInstanceOf(LeaseLostException.class);
        }
    }

    /** Readers come and go while it is in doubt whether those inside still have the lock. */
    @Test
    void readersThatComeInDoubtTakeNothingFromThoseInside() {
        Interlock session = suspendable();
        DistributedReadWriteLock lock = session.readWriteLock(NAME);
        DistributedReentrantLock beacon = lock(session, "beacon");
        Actor other = actor("other");
        beacon.lock();
        lock.readLock().lock();
        for (int i = 0; i < 20; i++) {
            suspend();
            beacon.assertHeld();
            other.run(lock.readLock()::lock);
            other.run(lock.readLock()::assertHeld);
            lock.readLock().assertHeld();
            other.run(lock.readLock()::unlock);
        }
        lock.readLock().unlock();
        beacon.unlock();
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
    }

    @Test
    void anAdaptedFixedLeaseIsAskedFor() {
        RedissonClient client = client(proxy().url());
        Interlock session = over(client, builder -> builder.lease(LEASE).ticker(System::nanoTime, wallClock));
        DistributedReentrantLock lock = free(session.adapt(client.getLock(NAME)));
        lock.lock(60, TimeUnit.SECONDS);
        suspend();
        lock.assertHeld();
        end(NAME);
        suspend();
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void aHolderOfPermitsIsTold() {
        ConcurrentLinkedQueue<LeaseLostException> heard = new ConcurrentLinkedQueue<>();
        DistributedSemaphore semaphore = suspendable().semaphore(NAME, 3);
        semaphore.onLost(heard::add);
        semaphore.acquireUninterruptibly();
        String key = "interlock:{stock}:semaphore";
        end(key, key + "-sessions", key + "-retired");
        suspend();
        await("told").until(() -> !heard.isEmpty());
        assertThatThrownBy(semaphore::release).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void aMemberOfABarrierIsRenewed() {
        Interlock session = suspendable();
        DistributedCyclicBarrier barrier = session.cyclicBarrier(NAME, 2);
        String before = score();
        suspend();
        await("renewal").until(() -> !score().equals(before));
        assertThat(barrier.isBroken()).isFalse();
        session.close();
    }

    private String score() {
        return String.valueOf(server().command("ZRANGE", "interlock:{stock}:barrier-members", "0", "0", "WITHSCORES"));
    }
}
