package dev.interlock.lock.condition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RLock;

/** Signals among time-outs, interrupts, retention and plain clients: none may get lost. */
@SuppressWarnings("WaitNotInLoop") // what ends a wait is what tests are about
@Tag("proof")
class ConditionStormTest extends ConditionFixture {
    private static final int ROUNDS = 25;

    private final TestReporter reporter;

    ConditionStormTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    /** Waits once; who is signalled has to pass the signal on. Returns whether it was. */
    private static boolean leaves(Side side, Duration time) {
        side.lock().lock();
        try {
            boolean signalled = side.arrived().await(time.toNanos(), TimeUnit.NANOSECONDS);
            side.lock().assertHeld();
            if (signalled) {
                side.arrived().signal();
            }
            return signalled;
        } catch (InterruptedException e) {
            side.lock().assertHeld();
            return false;
        } finally {
            side.lock().unlock();
        }
    }

    /**
     * Some threads wait until they are signalled, as many as there are signals. Others leave at about that time, and
     * pass on what reaches them. If a signal got lost, one of the first would wait for ever.
     */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void noSignalIsLostToWhoLeaves(Kind kind) {
        List<Side> sides = List.of(side(kind, session()), side(kind, session()));
        Side signaller = side(kind, undisturbed());
        int leavers = 6;
        int stayers = 3;
        List<Actor> leaving = actors("leaving-", leavers);
        List<Actor> staying = actors("staying-", stayers);
        var random = new Random();
        int signalled = 0;
        for (int round = 0; round < ROUNDS; round++) {
            List<CompletableFuture<Boolean>> left = new ArrayList<>();
            List<CompletableFuture<Boolean>> stayed = new ArrayList<>();
            for (int i = 0; i < leavers; i++) {
                Side side = sides.get(i % 2);
                Duration time = i < leavers / 2 ? Duration.ofMillis(80 + random.nextInt(40)) : Duration.ofHours(1);
                left.add(leaving.get(i).ask(() -> leaves(side, time)));
                if (i % 2 == 0) {
                    stayed.add(staying.get(i / 2).begin(sides.get(i / 2 % 2)::await));
                }
            }
            awaitNearEnd(leavers, stayers, random);
            CompletableFuture<Boolean> signals = beginSignals(actor("signaller-" + round), signaller, stayers);
            for (Actor untimed : leaving.subList(leavers / 2, leavers)) {
                LockSupport.parkNanos(random.nextInt(2_000_000));
                untimed.interrupt();
            }
            assertThat(signals).as("round %d", round).succeedsWithin(PATIENCE);
            signalled += countSignalled(left, round);
            for (CompletableFuture<Boolean> one : stayed) {
                assertThat(one).as("a signal of round %d", round).succeedsWithin(REPEATED);
            }
            awaitWaiters(0);
            leaving.forEach(
                    actor -> actor.run(() -> assertThat(Thread.interrupted()).isIn(true, false)));
        }
        reporter.publishEntry(signalled + " of " + ROUNDS * leavers + " were signalled before they left");
    }

    private List<Actor> actors(String name, int count) {
        return IntStream.range(0, count).mapToObj(i -> actor(name + i)).toList();
    }

    /** Waits until all wait, and a little longer: timed leavers may have left already, and stayers have not. */
    private void awaitNearEnd(int leavers, int stayers, Random random) {
        await("all wait")
                .until(() -> waiters() >= leavers / 2 + stayers && holder(NAME).isEmpty());
        await("near the end of their time").until(() -> waiters() < leavers + stayers || random.nextInt(20) == 0);
    }

    private static CompletableFuture<Boolean> beginSignals(Actor by, Side signaller, int count) {
        return by.begin(() -> {
            for (int i = 0; i < count; i++) {
                signaller.signal();
            }
        });
    }

    /** Returns how many of those who left in a round were signalled before. */
    private static int countSignalled(List<CompletableFuture<Boolean>> left, int round) {
        int signalled = 0;
        for (CompletableFuture<Boolean> one : left) {
            assertThat(one).as("round %d", round).succeedsWithin(PATIENCE);
            signalled += one.join() ? 1 : 0;
        }
        return signalled;
    }

    /** Two sides take turns, each waiting for the other's signal. */
    private void takeTurns(List<Side> sides, int turns) {
        takeTurns(sides, turns, Condition::signalAll);
    }

    private void takeTurns(List<Side> sides, int turns, Consumer<Condition> signal) {
        int[] turn = {0};
        List<CompletableFuture<Boolean>> ends = new ArrayList<>();
        for (int self = 0; self < sides.size(); self++) {
            Side side = sides.get(self);
            int own = self;
            ends.add(actor("player-" + self).begin(() -> {
                side.lock().lock();
                try {
                    while (turn[0] < turns) {
                        while (turn[0] < turns && turn[0] % sides.size() != own) {
                            side.arrived().await();
                            side.lock().assertHeld();
                        }
                        turn[0]++;
                        signal.accept(side.arrived());
                    }
                } finally {
                    side.lock().unlock();
                }
            }));
        }
        for (CompletableFuture<Boolean> end : ends) {
            assertThat(end).succeedsWithin(PATIENCE.multipliedBy(3));
        }
        assertThat(turn[0]).isGreaterThanOrEqualTo(turns);
    }

    /** Two sides take turns by single signals, of which each one counts, while one answer in so many gets lost. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void noSignalIsLostInABadNetwork(Kind kind) {
        List<Side> sides = List.of(side(kind, session()), side(kind, session()));
        var random = new Random();
        for (Loss loss : List.of(Loss.CUT, Loss.MUTE)) {
            proxy().dropReplies(words -> words.contains(NAME) && random.nextInt(60) == 0, FaultProxy.ALWAYS, loss);
            proxy().dropRequests(words -> words.contains(NAME) && random.nextInt(60) == 0, FaultProxy.ALWAYS, loss);
        }
        proxy().dropMessages(words -> random.nextInt(20) == 0, FaultProxy.ALWAYS);
        takeTurns(sides, 40, Condition::signal);
        reporter.publishEntry(dropped() + " answers lost");
    }

    /** A session keeps the lock though its thread waits, until another one asks for it, which may signal. */
    @Test
    void aWaiterOfASessionThatRetainsTheLock() {
        Interlock session = session();
        Side retaining = side(session, session.lock(NAME, LockOptions.retain(Duration.ofSeconds(60))));
        Side other = side(Kind.PLAIN, undisturbed());
        Actor thread = actor("waiter");
        Actor observer = actor("observer");
        for (int round = 0; round < ROUNDS; round++) {
            CompletableFuture<Boolean> returned = thread.begin(retaining::await);
            await("waits")
                    .until(() -> observer.get(() -> {
                        retaining.lock().lock();
                        try {
                            return retaining.lock().hasWaiters(retaining.arrived());
                        } finally {
                            retaining.lock().unlock();
                        }
                    }));
            other.signal();
            assertThat(returned).as("round %d", round).succeedsWithin(PROMPTLY.plus(SLACK));
        }
        session.close();
    }

    /** Sessions that retain the lock signal each other. */
    @Test
    void retainingSessionsTakeTurns() {
        LockOptions retain = LockOptions.retain(Duration.ofSeconds(60));
        Interlock one = session();
        Interlock two = session();
        takeTurns(List.of(side(one, one.lock(NAME, retain)), side(two, two.lock(NAME, retain))), 60);
        one.close();
        two.close();
    }

    /** The same with a session that doesn't. */
    @Test
    void aRetainingSessionAndAnotherTakeTurns() {
        Interlock one = session();
        takeTurns(
                List.of(
                        side(one, one.lock(NAME, LockOptions.retain(Duration.ofSeconds(60)))),
                        side(Kind.PLAIN, undisturbed())),
                60);
        one.close();
    }

    /** Plain clients compete for the name meanwhile, and get it. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aPlainClientComesBetween(Kind kind) {
        RLock plain = client(server().url()).getLock(NAME);
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Integer> entries = actor("plain").ask(() -> {
            int count = 0;
            while (!done.get()) {
                plain.lock();
                count++;
                LockSupport.parkNanos(200_000);
                plain.unlock();
                LockSupport.parkNanos(500_000);
            }
            return count;
        });
        try {
            takeTurns(List.of(side(kind, session()), side(kind, session()), side(kind, undisturbed())), 90);
        } finally {
            done.set(true);
        }
        assertThat(entries).succeedsWithin(PATIENCE);
        assertThat(entries.join()).isPositive();
        reporter.publishEntry(entries.join() + " entries of a plain client");
    }

    /** A plain client deletes the lock by force while its owner is about to signal: nobody waits for ever. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aPlainClientUnlocksByForce(Kind kind) {
        CompletableFuture<Boolean> waiting = startWaiting(side(kind, session()), 1);
        Side holder = side(kind, undisturbed());
        holder.lock().lock();
        holder.arrived().signal();
        assertThat(client(server().url()).getLock(NAME).forceUnlock()).isTrue();
        assertThat(waiting).succeedsWithin(PROMPTLY.plus(SLACK));
        try {
            holder.lock().unlock();
        } catch (IllegalMonitorStateException e) {
            assertThat(e).isInstanceOf(LeaseLostException.class);
        }
    }
}
