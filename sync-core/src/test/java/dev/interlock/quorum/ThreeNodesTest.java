package dev.interlock.quorum;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.LeaseLostException;
import dev.interlock.QuorumInterlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Loss;
import dev.interlock.testing.MovableTicker;
import dev.interlock.testing.Timely;
import dev.interlock.testing.Timers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three nodes, and what may go wrong at one of them, or between them and a session. */
@Timely
class ThreeNodesTest extends QuorumFixture {
    private static final Predicate<List<String>> SCRIPTS = words -> words.get(0).equalsIgnoreCase("EVALSHA");

    /** The requests of quorum/acquire have four keys and five arguments. */
    private static final Predicate<List<String>> ACQUIRE =
            SCRIPTS.and(words -> words.get(2).equals("4"));

    /** Those of quorum/release have three keys, the second of which are those who wait. */
    private static final Predicate<List<String>> RELEASE =
            SCRIPTS.and(words -> words.get(2).equals("3") && words.get(4).endsWith("-waiters"));

    @Override
    int size() {
        return 3;
    }

    /**
     * A node that is stopped costs nothing, since the others are enough; one refusal and a silent node cost one
     * time-out.
     */
    @Test
    void aStoppedNodeCostsATimeOutAtMost() {
        DistributedReentrantLock lock = session().lock(NAME);
        DistributedReentrantLock rival = session().lock(NAME);
        nodes.node(1).pause();
        long start = System.nanoTime();
        lock.lock();
        assertWithin(Duration.ofMillis(500).plus(SLACK), since(start));
        long refused = System.nanoTime();
        Actor other = actor("other");
        boolean entered = other.get(() -> rival.tryLock());
        assertThat(entered).isFalse();
        assertWithin(Duration.ofMillis(500).plus(SLACK), since(refused));
        lock.unlock();
        nodes.node(1).resume();
        // What was under way to it arrives, and so does the release.
        awaitFree(0, 1, 2);
        lock.lock();
        assertThat(lock.isLocked()).isTrue();
        lock.unlock();
    }

    /** It refuses the others meanwhile. */
    @Test
    void closingWaitsForAHolder() {
        QuorumInterlock session = session();
        DistributedReentrantLock lock = session.lock(NAME);
        DistributedReentrantLock rival = session().lock(NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        CompletableFuture<Boolean> closed = actor("closer").begin(() -> session.close(Duration.ofMinutes(10)));
        Actor other = actor("other");
        await("it refuses")
                .until(() -> other.get(() -> {
                    try {
                        DistributedReentrantLock probe = session.lock("other");
                        if (probe.tryLock()) {
                            probe.unlock();
                        }
                        return false;
                    } catch (IllegalStateException e) {
                        return true;
                    }
                }));
        assertThat(closed).isNotDone();
        holder.run(lock::unlock);
        assertThat(closed).succeedsWithin(PATIENCE);
        actor("rival").run(() -> {
            assertThat(rival.tryLock(10, TimeUnit.SECONDS)).isTrue();
            rival.unlock();
        });
    }

    /** A silent node isn't flooded by turns that do without it, and hears in the end that all are over. */
    @Test
    @Tag("proof")
    void aSilentNodeIsNotFlooded() {
        QuorumInterlock session = session();
        DistributedReentrantLock lock = session.lock(NAME);
        nodes.proxy(1).stall();
        long start = System.nanoTime();
        for (int turns = 0; turns <= 100 || since(start).compareTo(Duration.ofSeconds(3)) < 0; turns++) {
            lock.lock();
            lock.unlock();
        }
        assertWithin(PATIENCE, since(start));
        nodes.proxy(1).heal();
        awaitFree(0, 1, 2);
        lock.lock();
        await("its vote").pollInSameThread().until(() -> nodes.votes(NAME, session.id()) == 3);
        lock.unlock();
    }

    /** However many turns end while a node is away, its session keeps one timer for that, and the node hears of all. */
    @Test
    void turnsWithoutANodeAreRememberedByOneTimer() {
        QuorumInterlock session = session();
        List<DistributedReentrantLock> locks =
                IntStream.range(0, 300).mapToObj(i -> session.lock(NAME + i)).toList();
        locks.forEach(DistributedReentrantLock::lock);
        await("all votes").until(() -> IntStream.range(0, 300).allMatch(i -> nodes.votes(NAME + i, session.id()) == 3));
        nodes.proxy(2).stall();
        nodes.proxy(2).cut();
        locks.forEach(DistributedReentrantLock::unlock);
        await("few timers").during(Duration.ofMillis(600)).until(() -> Timers.pendingOf(session) < 20);
        assertThat(nodes.owner(2, NAME + 299)).startsWith(session.id());
        nodes.proxy(2).heal();
        await("all free")
                .until(() -> IntStream.range(0, 300)
                        .allMatch(i -> nodes.owner(2, NAME + i).isEmpty()));
    }

    /** The release is repeated until a node hears of it that was away. */
    @Test
    void aReleaseReachesANodeThatWasAway() {
        QuorumInterlock session = session();
        DistributedReentrantLock lock = session.lock(NAME);
        lock.lock();
        await("all votes").until(() -> nodes.votes(NAME, session.id()) == 3);
        nodes.proxy(2).stall();
        nodes.proxy(2).cut();
        lock.unlock();
        awaitFree(0, 1);
        assertThat(nodes.owner(2, NAME)).startsWith(session.id());
        nodes.proxy(2).heal();
        awaitFree(2);
    }

    /** Votes whose answers were lost are given back, and the next round wins. */
    @Test
    void lostAnswersLeaveNothingBehind() {
        QuorumInterlock session = session();
        DistributedReentrantLock lock = session.lock(NAME);
        nodes.proxy(0).dropReplies(ACQUIRE, 1, Loss.MUTE);
        nodes.proxy(1).dropReplies(ACQUIRE, 1, Loss.MUTE);
        lock.lock();
        assertThat(nodes.proxy(0).dropped() + nodes.proxy(1).dropped()).isEqualTo(2);
        assertThat(lock.getHoldCount()).isEqualTo(1);
        lock.assertHeld();
        lock.unlock();
        awaitFree(0, 1, 2);
    }

    /** A request that is executed once more after the release finds its mark. */
    @Test
    void delayedDuplicatesAreRefused() {
        DistributedReentrantLock lock = session().lock(NAME);
        for (int i = 0; i < 3; i++) {
            nodes.proxy(i).duplicateRequests(ACQUIRE, Duration.ofMillis(300), 1);
        }
        lock.lock();
        lock.unlock();
        awaitFree(0, 1, 2);
        await("duplicates")
                .until(() -> IntStream.range(0, 3).allMatch(i -> nodes.proxy(i).duplicated() == 1));
        awaitFree(0, 1, 2);
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
    }

    /** A minority that comes back empty votes again for the owner, who goes on. */
    @Test
    @Tag("proof")
    void aNodeThatHasLostItsDataVotesAgain() {
        Duration lease = Duration.ofMillis(1_500);
        QuorumInterlock session = session(builder -> builder.lease(lease));
        DistributedReentrantLock lock = session.lock(NAME);
        lock.lock();
        long token = lock.fencingToken();
        kill(2);
        restart(2);
        await("a new vote").until(() -> nodes.owner(2, NAME).startsWith(session.id()));
        lock.assertHeld();
        // It counts by now, so that another one may be lost.
        await("a renewal").during(lease).atMost(PATIENCE).until(() -> nodes.votes(NAME, session.id()) == 3);
        nodes.node(0).command("DEL", Nodes.lockKey(NAME));
        await("a new vote").until(() -> nodes.owner(0, NAME).startsWith(session.id()));
        lock.assertHeld();
        assertThat(lock.fencingToken()).isEqualTo(token);
        lock.unlock();
        lock.lock();
        assertThat(lock.fencingToken()).isGreaterThan(token);
        lock.unlock();
    }

    /** A majority crashes and goes back to an older copy of its data, in which nobody holds the lock. */
    @Test
    void nodesThatGoBackToAnOlderCopyGiveNoTokenAgain() {
        DistributedReentrantLock lock = session().lock(NAME);
        DistributedReentrantLock rival = session().lock(NAME);
        lock.lock();
        lock.unlock();
        awaitFree(0, 1, 2);
        IntStream.range(0, 3).forEach(i -> nodes.node(i).command("SAVE"));
        lock.lock();
        for (int i = 0; i < 20; i++) {
            lock.unlock();
            lock.lock();
        }
        long token = lock.fencingToken();
        restart(0);
        restart(1);
        lock.assertHeld();
        Actor thread = actor("rival");
        assertThat(thread.<Boolean>get(() -> rival.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)))
                .isTrue();
        assertThat(thread.<Long>get(rival::fencingToken)).isGreaterThan(token);
        thread.run(rival::unlock);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }

    /**
     * The case of the documents: clocks of nodes jump, two hold the lock in time, and the older one's token is the
     * smaller.
     */
    @Test
    void aClockJumpMakesTwoHoldersWhoseTokensTellThemApart() {
        DistributedReentrantLock lock = session().lock(NAME);
        DistributedReentrantLock rival = session().lock(NAME);
        ConcurrentLinkedQueue<LeaseLostException> heard = new ConcurrentLinkedQueue<>();
        lock.onLost(heard::add);
        nodes.node(2).pause();
        lock.lock();
        long older = lock.fencingToken();
        nodes.node(2).resume();
        // With the third node's vote it would take two clocks.
        await("its votes").until(() -> nodes.owner(0, NAME).equals(nodes.owner(1, NAME)));
        nodes.node(1).command("PEXPIRE", Nodes.lockKey(NAME), "1");
        nodes.node(2).command("PEXPIRE", Nodes.lockKey(NAME), "1");
        Actor other = actor("other");
        other.run(rival::lock);
        long newer = other.get(rival::fencingToken);
        assertThat(newer).isGreaterThan(older);
        lock.assertHeld();
        // The store that both write to, newer first.
        long[] seen = {0};
        assertThat(accepts(seen, newer)).isTrue();
        assertThat(accepts(seen, older)).isFalse();
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        await("told").until(() -> !heard.isEmpty());
        other.run(rival::assertHeld);
        other.run(rival::unlock);
    }

    private static boolean accepts(long[] seen, long token) {
        if (token < seen[0]) {
            return false;
        }
        seen[0] = token;
        return true;
    }

    /** What a renewal finds at a majority is told before the lease is over. */
    @Test
    void aLossAtAMajorityIsToldByTheNextRenewal() {
        Duration lease = Duration.ofSeconds(3);
        QuorumInterlock session = session(builder -> builder.lease(lease));
        DistributedReentrantLock lock = session.lock(NAME);
        ConcurrentLinkedQueue<LeaseLostException> heard = new ConcurrentLinkedQueue<>();
        lock.onLost(heard::add);
        lock.lock();
        long token = lock.fencingToken();
        await("all votes").until(() -> nodes.votes(NAME, session.id()) == 3);
        // At once: from a renewal in between, a node would have voted anew, and that would count by the next one.
        nodes.proxy(0).stall();
        nodes.proxy(1).stall();
        nodes.node(0).command("DEL", Nodes.lockKey(NAME));
        nodes.node(1).command("DEL", Nodes.lockKey(NAME));
        nodes.proxy(0).resume();
        nodes.proxy(1).resume();
        long deleted = System.nanoTime();
        await("told").until(() -> !heard.isEmpty());
        assertWithin(lease.dividedBy(3).plus(SLACK), since(deleted));
        assertThat(heard.element().fencingToken()).isEqualTo(token);
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        lock.lock();
        assertThat(lock.fencingToken()).isGreaterThan(token);
        lock.unlock();
    }

    /** Renewals that no majority answers: the holder is told while nobody else can have the lock yet. */
    @Test
    @Tag("proof")
    void aLossThatCanBeForeseenIsToldBeforeTheLeaseIsOver() {
        QuorumInterlock session = session(builder -> builder.lease(Duration.ofSeconds(6)));
        DistributedReentrantLock lock = session.lock(NAME);
        ConcurrentLinkedQueue<String> owners = new ConcurrentLinkedQueue<>();
        lock.onLost(loss -> owners.add(nodes.owner(0, NAME)));
        lock.lock();
        // Two are enough for the lock: the vote of the first node may still be on its way.
        await("all votes").until(() -> nodes.votes(NAME, session.id()) == 3);
        nodes.proxy(0).stall();
        nodes.proxy(1).stall();
        await("told").until(() -> !owners.isEmpty());
        assertThat(owners.element()).isNotEmpty();
        nodes.proxy(0).heal();
        nodes.proxy(1).heal();
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        awaitFree(0, 1, 2);
    }

    /** Who is interrupted while no majority answers leaves nothing behind; the other nodes hear of it later. */
    @Test
    void anInterruptDuringAcquisitionLeavesNothing() {
        DistributedReentrantLock lock = session().lock(NAME);
        nodes.proxy(0).stall();
        nodes.proxy(1).stall();
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = waiter.begin(lock::lockInterruptibly);
        await("a vote").until(() -> !nodes.owner(2, NAME).isEmpty());
        waiter.interrupt();
        assertThat(entered)
                .failsWithin(PATIENCE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(InterruptedException.class);
        assertThat(lock.isLocked()).isFalse();
        nodes.proxy(0).heal();
        nodes.proxy(1).heal();
        awaitFree(0, 1, 2);
        boolean again = waiter.get(() -> lock.tryLock());
        assertThat(again).isTrue();
        waiter.run(lock::unlock);
    }

    /**
     * The next request of the session overtakes the release: whoever has left is told that he owned the name until
     * then.
     */
    @Test
    void aReleaseThatIsOvertakenIsNoLoss() {
        DistributedReentrantLock lock = session().lock(NAME);
        Actor next = actor("next");
        for (int round = 0; round < 5; round++) {
            lock.lock();
            for (int i = 0; i < 3; i++) {
                nodes.proxy(i).delayRequests(RELEASE, Duration.ofMillis(200), 1);
            }
            CompletableFuture<Boolean> entered = next.begin(() -> {
                while (!lock.tryLock()) {
                    Thread.onSpinWait();
                }
                lock.assertHeld();
            });
            lock.unlock();
            assertThat(entered).succeedsWithin(PATIENCE);
            IntStream.range(0, 3).forEach(i -> nodes.proxy(i).heal());
            next.run(lock::unlock);
        }
        awaitFree(0, 1, 2);
    }

    /** Neither one that has ended without unlocking nor one that hangs. */
    @Test
    void aThreadThatHasLostTheLockKeepsNoOtherOut() throws InterruptedException {
        DistributedReentrantLock lock = session().lock(NAME);
        Thread gone = new Thread(() -> lock.lock(600, TimeUnit.MILLISECONDS), "gone");
        gone.start();
        gone.join();
        Actor loser = actor("loser");
        loser.run(() -> lock.lock(600, TimeUnit.MILLISECONDS));
        Actor waiter = actor("waiter");
        assertThat(waiter.begin(lock::lock)).succeedsWithin(PATIENCE);
        assertThatThrownBy(() -> loser.run(lock::lock)).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> loser.run(lock::unlock)).isInstanceOf(LeaseLostException.class);
        waiter.run(lock::assertHeld);
        waiter.run(lock::unlock);
    }

    /** A fixed lease isn't renewed. */
    @Test
    void aFixedLeaseEnds() {
        DistributedReentrantLock lock = session().lock(NAME);
        DistributedReentrantLock rival = session().lock(NAME);
        lock.lock(600, TimeUnit.MILLISECONDS);
        Actor other = actor("other");
        other.run(rival::lock);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        other.run(rival::unlock);
    }

    /** Closing gives back what is held and ends waits. */
    @Test
    void closeGivesBack() {
        QuorumInterlock session = session();
        DistributedReentrantLock lock = session.lock(NAME);
        QuorumInterlock theirs = session();
        DistributedReentrantLock rival = theirs.lock(NAME);
        lock.lock();
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = waiter.begin(rival::lock);
        await("it waits").until(() -> nodes.waits(0, NAME, theirs.id()));
        theirs.close();
        assertThat(entered)
                .failsWithin(PATIENCE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(IllegalStateException.class);
        assertThat(rival.isLocked()).isFalse();
        session.close();
        awaitFree(0, 1, 2);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::lock).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> session.lock(NAME)).isInstanceOf(IllegalStateException.class);
    }

    /**
     * A node that refuses for good is one of the minority that may be missing: who waits for the others goes on
     * waiting.
     */
    @Test
    void oneNodeThatRefusesEndsNoWait() {
        DistributedReentrantLock lock = session().lock(NAME);
        DistributedReentrantLock rival = session().lock(NAME);
        nodes.node(1).command("SET", Nodes.lockKey(NAME), "a string");
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(lock::lock);
        // So that it refuses before a majority has answered.
        nodes.proxy(2).delay(Duration.ofMillis(50));
        CompletableFuture<Boolean> entered = waiter.begin(rival::lock);
        await("it waits").during(Duration.ofMillis(500)).until(() -> !entered.isDone());
        holder.run(lock::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        nodes.node(1).command("DEL", Nodes.lockKey(NAME));
        waiter.run(rival::unlock);
    }

    /** The wall clock is put forward, and two nodes have forgotten the owner: as after a suspension. */
    @Test
    void aHolderWhoseMachineWasSuspendedAsksTheNodes() {
        MovableTicker wallClock = new MovableTicker();
        QuorumInterlock session =
                session(builder -> builder.lease(Duration.ofSeconds(90)).ticker(System::nanoTime, wallClock));
        DistributedReentrantLock lock = session.lock(NAME);
        lock.lock();
        // A thread enters as soon as two nodes have voted for it.
        await("all votes").until(() -> nodes.votes(NAME, session.id()) == 3);
        nodes.node(0).command("DEL", Nodes.lockKey(NAME));
        wallClock.advance(Duration.ofSeconds(100));
        lock.assertHeld();
        assertThat(lock.fencingToken()).isPositive();
        nodes.node(1).command("DEL", Nodes.lockKey(NAME));
        nodes.node(2).command("DEL", Nodes.lockKey(NAME));
        lock.assertHeld();
        wallClock.advance(Duration.ofSeconds(100));
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }
}
