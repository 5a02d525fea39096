package dev.interlock.lock.faults;

import static dev.interlock.testing.TooLate.assertBetween;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.MovableTicker;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A lock that is lost while a thread holds it: the thread is told, once and in time; nothing is handed on; and its
 * unlock frees what is left of it, without touching what others have by then.
 */
class LossTest extends FaultFixture {
    private static final String NAME = "stock";

    /** So long that within a test only a renewal finds out what Redis has; the ticker makes that due. */
    private static final Duration LEASE = Duration.ofMinutes(10);

    private final MovableTicker ticker = new MovableTicker();
    private final Recorder recorder = new Recorder();
    private final ConcurrentLinkedQueue<LeaseLostException> heard = new ConcurrentLinkedQueue<>();

    private DistributedReentrantLock newLock() {
        heard.clear();
        DistributedReentrantLock lock = lock(session(this::leased), NAME);
        lock.onLost(heard::add);
        return lock;
    }

    private InterlockBuilder leased(InterlockBuilder builder) {
        return builder.lease(LEASE).listener(recorder).ticker(ticker);
    }

    private void renew() {
        ticker.advance(LEASE.dividedBy(3));
    }

    private int losses() {
        return recorder.count(Recorder.Kind.LOST);
    }

    /** The holder knows, and can still leave as guarded code does. */
    private static void assertLost(DistributedReentrantLock lock) {
        assertThatThrownBy(lock::assertHeld)
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        loss -> assertThat(loss.lockName()).isEqualTo(NAME));
        assertThatThrownBy(lock::fencingToken).isInstanceOf(LeaseLostException.class);
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        assertThat(lock.getHoldCount()).isEqualTo(1);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.isLocked()).isFalse();
    }

    private void awaitToldOnce(int before) {
        await("told").until(() -> losses() > before && !heard.isEmpty());
    }

    private void assertToldOnce(int before) {
        assertThat(losses()).isEqualTo(before + 1);
        assertThat(heard).hasSize(1);
    }

    @Test
    void whatAnOperatorDeletesIsMissedAtTheNextRenewal() {
        int before = losses();
        DistributedReentrantLock lock = newLock();
        lock.lock();
        long token = lock.fencingToken();
        server().command("DEL", NAME);
        renew();
        awaitToldOnce(before);
        assertThat(heard.element().fencingToken()).isEqualTo(token);
        assertThat(heard.element().lockName()).isEqualTo(NAME);
        assertLost(lock);
        lock.lock();
        assertThat(lock.fencingToken()).isGreaterThan(token);
        lock.unlock();
        assertToldOnce(before);
    }

    /** Even if nobody notices before: unlock() finds another owner, or none. */
    @Test
    void unlockItselfNoticesALossThatNobodyHasSeen() {
        int before = losses();
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = free(session.lock(NAME, LockOptions.confirmUnlock()));
        heard.clear();
        lock.onLost(heard::add);
        lock.lock();
        server().command("DEL", NAME);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        awaitToldOnce(before);
        assertToldOnce(before);
    }

    /** Who doesn't wait for the confirmation is told by the listener, and nobody is told to stop. */
    @Test
    void aLossThatOnlyTheReleaseFindsIsTold() {
        int before = losses();
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        heard.clear();
        lock.onLost(heard::add);
        lock.lock();
        long token = lock.fencingToken();
        server().command("DEL", NAME);
        lock.unlock();
        await("told").until(() -> recorder.count(Recorder.Kind.LOST_UNNOTICED) == 1);
        Recorder.Event loss = recorder.of(Recorder.Kind.LOST_UNNOTICED).get(0);
        assertThat(loss.name()).isEqualTo(NAME);
        assertThat(loss.nanos()).isEqualTo(token);
        assertThat(losses()).isEqualTo(before);
        assertThat(heard).isEmpty();
    }

    @Test
    void aPlainLocksForceUnlockIsNoticed() {
        int before = losses();
        DistributedReentrantLock lock = newLock();
        lock.lock();
        assertThat(client(server().url()).getLock(NAME).forceUnlock()).isTrue();
        renew();
        awaitToldOnce(before);
        assertLost(lock);
        assertToldOnce(before);
    }

    /** A thread that queues behind the loser isn't handed what isn't there, and the winner isn't disturbed. */
    @Test
    void whatWasLostIsNotHandedOn() {
        DistributedReentrantLock lock = newLock();
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor holder = actor("holder");
        Actor next = actor("next");
        Actor rival = actor("rival");
        holder.run(lock::lock);
        long token = holder.get(lock::fencingToken);
        CompletableFuture<Boolean> entered = next.begin(lock::lock);
        awaitQueued(lock, next);
        server().command("DEL", NAME);
        rival.run(other::lock);
        String owner = holder(NAME);
        renew();
        await("told").until(() -> !heard.isEmpty());
        assertThatThrownBy(() -> holder.run(lock::unlock)).isInstanceOf(LeaseLostException.class);
        awaitTickets(NAME, 1);
        assertThat(entered).isNotDone();
        assertThat(holder(NAME)).isEqualTo(owner);
        long rivals = rival.get(other::fencingToken);
        assertThat(rivals).isGreaterThan(token);
        rival.run(other::unlock);
        assertThat(entered).succeedsWithin(PROMPTLY);
        assertThat(next.get(lock::fencingToken)).isGreaterThan(rivals);
        next.run(lock::unlock);
    }

    /** Renewals fail: the holder is told while nobody else can have the lock yet. */
    @Test
    @Tag("proof")
    void aLossThatCanBeForeseenIsToldBeforeTheLeaseIsOver() {
        int before = losses();
        ConcurrentLinkedQueue<Long> ttls = new ConcurrentLinkedQueue<>();
        // A renewal times out, and then the lease is over.
        Duration lease = Duration.ofSeconds(4);
        DistributedReentrantLock lock = lock(impatient(b -> b.lease(lease).listener(recorder)), NAME);
        heard.clear();
        lock.onLost(loss -> {
            ttls.add(pttl(NAME));
            heard.add(loss);
        });
        lock.lock();
        proxy().stall();
        await("told").until(() -> !heard.isEmpty());
        assertThat(ttls).singleElement().satisfies(ttl -> assertThat(ttl).isPositive());
        assertThat(recorder.count(Recorder.Kind.RENEWAL_FAILED)).isPositive();
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        await("the lease").until(() -> holder(NAME).isEmpty());
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor rival = actor("rival");
        rival.run(other::lock);
        proxy().heal();
        assertLost(lock);
        await("repeated releases")
                .during(SHORT_TIMEOUT.multipliedBy(2))
                .until(() -> !holder(NAME).isEmpty());
        rival.run(other::assertHeld);
        rival.run(other::unlock);
        assertToldOnce(before);
    }

    /** A tenure that ends between two threads, when nobody holds it, is nobody's loss. */
    @Test
    void aTenureThatIsLostBetweenTwoHoldersIsNoLoss() {
        MovableTicker ticker = new MovableTicker();
        Recorder forwarding = new Recorder() {
            @Override
            public void handedOff(String name) {
                super.handedOff(name);
                ticker.advance(Duration.ofHours(1));
            }
        };
        DistributedReentrantLock lock =
                lock(session(builder -> builder.listener(forwarding).ticker(ticker)), NAME);
        Actor holder = actor("holder");
        Actor next = actor("next");
        holder.run(lock::lock);
        long token = holder.get(lock::fencingToken);
        CompletableFuture<Boolean> entered = next.begin(lock::lock);
        awaitQueued(lock, next);
        holder.run(lock::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(next.get(lock::fencingToken)).isGreaterThan(token);
        next.run(lock::assertHeld);
        next.run(lock::unlock);
        assertThat(forwarding.count(Recorder.Kind.HANDED_OFF)).isEqualTo(1);
        assertThat(forwarding.count(Recorder.Kind.LOST)).isZero();
    }

    /** A lock that this thread holds, and whose lease is over for its session all at once. */
    private DistributedReentrantLock heldBeyondItsLease() {
        DistributedReentrantLock lock = newLock();
        lock.lock();
        ticker.advance(LEASE.plusSeconds(1));
        return lock;
    }

    /** Time passes unseen, as in a JVM that was paused: the first question is answered right, without a round trip. */
    @Test
    void aPauseBeyondTheLeaseIsSeenAtOnce() {
        int before = losses();
        DistributedReentrantLock lock = heldBeyondItsLease();
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        assertLost(lock);
        awaitToldOnce(before);
        assertToldOnce(before);
        awaitFree(NAME);
    }

    /** Nobody asks: the lease renewer tells all the same. */
    @Test
    void aPauseBeyondTheLeaseIsToldToWhoeverDoesNotAsk() {
        int before = losses();
        DistributedReentrantLock lock = heldBeyondItsLease();
        awaitToldOnce(before);
        assertLost(lock);
        assertToldOnce(before);
    }

    /** A fixed lease isn't renewed: when it's over, another session gets in and the holder knows. */
    @Test
    void aFixedLeaseEnds() {
        int before = losses();
        int renewals = recorder.count(Recorder.Kind.RENEWED);
        DistributedReentrantLock lock = newLock();
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor rival = actor("rival");
        // Redis ends it, so that the ticker is of no help.
        Duration lease = Duration.ofSeconds(3);
        long begun = Monotonic.nanos();
        lock.lock(lease.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(pttl(NAME)).isBetween(1L, lease.toMillis());
        lock.assertHeld();
        rival.run(other::lock);
        assertBetween(
                lease.multipliedBy(9).dividedBy(10), lease.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - begun));
        awaitToldOnce(before);
        assertLost(lock);
        assertToldOnce(before);
        assertThat(recorder.count(Recorder.Kind.RENEWED)).isEqualTo(renewals);
        rival.run(other::assertHeld);
        rival.run(other::unlock);
    }

    /** A fixed lease that is left in time is nobody's loss, and ends nothing that comes after. */
    @Test
    void aFixedLeaseThatIsLeftInTimeIsNoLoss() throws InterruptedException {
        int before = losses();
        DistributedReentrantLock lock = newLock();
        assertThat(lock.tryLock(30, 2, TimeUnit.SECONDS)).isTrue();
        lock.unlock();
        awaitFree(NAME);
        lock.lock();
        await("what the fixed lease has left behind")
                .during(Duration.ofMillis(2_500))
                .until(() -> !holder(NAME).isEmpty());
        lock.assertHeld();
        lock.unlock();
        assertThat(losses()).isEqualTo(before);
    }

    /** One key that an operator has broken costs its own holder the lock, and no other. */
    @Test
    @Tag("proof")
    void aBrokenKeyTouchesNoOtherName() {
        int before = losses();
        Interlock session = session(this::leased);
        List<DistributedReentrantLock> locks =
                IntStream.range(0, 6).mapToObj(i -> lock(session, "name-" + i)).toList();
        locks.forEach(DistributedReentrantLock::lock);
        server().command("SET", "name-3", "a string", "PX", "60000");
        for (int i = 0; i < 3; i++) {
            int renewals = recorder.count(Recorder.Kind.RENEWED);
            renew();
            await("renewed").until(() -> recorder.count(Recorder.Kind.RENEWED) >= renewals + 5);
        }
        // What is refused may pass, until the lease is over.
        await("told").until(() -> losses() == before + 1);
        assertThat(recorder.of(Recorder.Kind.LOST).get(before).name()).isEqualTo("name-3");
        server().command("DEL", "name-3");
        for (int i = 0; i < 6; i++) {
            DistributedReentrantLock lock = locks.get(i);
            if (i == 3) {
                assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
            } else {
                lock.assertHeld();
                lock.unlock();
            }
        }
        assertThat(losses()).isEqualTo(before + 1);
    }

    @Test
    void aListenerThatWasRemovedHearsNothing() {
        DistributedReentrantLock lock = newLock();
        ConcurrentLinkedQueue<LeaseLostException> removed = new ConcurrentLinkedQueue<>();
        Runnable remove = lock.onLost(removed::add);
        remove.run();
        remove.run();
        lock.lock();
        server().command("DEL", NAME);
        renew();
        await("told").until(() -> !heard.isEmpty());
        assertLost(lock);
        assertThat(removed).isEmpty();
    }
}
