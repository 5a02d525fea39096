package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of {@link ReentrantLock} and of its conditions. No wait in it returns spuriously: it has no faults, and
 * the oracle returns for nothing else than a signal, a time-out or an interrupt.
 *
 * <p>The waiter and the signaller use the lock through the same object, or through objects of two sessions, each with
 * {@linkplain #sameCondition the same condition} of its own.
 */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class ConditionContract extends ConditionWaitContract {

    private static final int WAITERS = 6;
    private static final int RACES = 25;

    /** Waiters at both ends in turn. Each adds its place to {@code returned} while it has the lock. */
    private List<Running<Boolean>> startWaiters(Ends ends, List<Integer> returned) {
        List<Running<Boolean>> waiters = new ArrayList<>();
        for (int place = 0; place < WAITERS; place++) {
            int mine = place;
            Form form = Form.inTurn(place);
            waiters.add(startWaiting("waiter " + place, ends.of(place), 1, () -> {
                form.on(ends.of(mine).condition());
                return returned.add(mine);
            }));
        }
        return waiters;
    }

    private static List<Integer> newOrder() {
        return Collections.synchronizedList(new ArrayList<>());
    }

    private static List<Integer> firstOf(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a signal wakes exactly one waiter: the one that has waited longest, through whichever object")
    void signalWakesLongestWaiter(Contender contender) {
        Ends ends = newEnds(contender);
        List<Integer> returned = newOrder();
        List<Running<Boolean>> waiters = startWaiters(ends, returned);

        for (int signals = 1; signals <= WAITERS; signals++) {
            ends.of(signals / 2).signal();
            waiters.get(signals - 1).result();
            assertThat(returned).isEqualTo(firstOf(signals));
            ends.of(signals).assertWaiters(WAITERS - signals);
            if (signals == 2) {
                assertNotYet(waiters.get(WAITERS - 1));
                assertThat(returned).isEqualTo(firstOf(signals));
            }
        }

        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "as many signals under one hold wake as many of the longest waiters; a fair lock lets them in in order")
    void signalsAddUp(Contender contender) {
        Ends ends = newEnds(contender);
        List<Integer> returned = newOrder();
        List<Running<Boolean>> waiters = startWaiters(ends, returned);

        ends.there().lock().lock();
        for (int signals = 1; signals < WAITERS; signals++) {
            ends.there().condition().signal();
            ends.there().assertWaitersOfHeldLock(WAITERS - signals);
        }
        ends.there().lock().unlock();

        waiters.subList(0, WAITERS - 1).forEach(Running::result);
        assertThat(returned).containsExactlyInAnyOrderElementsOf(firstOf(WAITERS - 1));
        if (fifo(contender)) {
            assertThat(returned).isSorted();
        }
        assertNotYet(waiters.get(WAITERS - 1));
        ends.here().signal();
        waiters.get(WAITERS - 1).result();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "signalAll wakes all waiters, who return one at a time; in the order of their waits if the lock is fair")
    void signalAllWakesAll(Contender contender) {
        Ends ends = newEnds(contender);
        List<Integer> returned = newOrder();
        List<Running<Boolean>> waiters = startWaiters(ends, returned);

        ends.there().lock().lock();
        ends.there().condition().signalAll();
        ends.there().assertWaitersOfHeldLock(0);
        ends.there().lock().unlock();

        waiters.forEach(Running::result);
        assertThat(returned).containsExactlyInAnyOrderElementsOf(firstOf(WAITERS));
        if (fifo(contender)) {
            assertThat(returned).isSorted();
        }
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a signal that nobody waits for is forgotten")
    void signalIsNotKept(Contender contender) {
        Ends ends = newEnds(contender);
        ends.there().signal();
        ends.here().signalAll();
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), Form.PLAIN);

        assertNotYet(waiter);

        ends.there().signal();
        waiter.result();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the conditions of a lock have nothing to do with each other")
    void conditionsAreIndependent(Contender contender) {
        against(contender);
        List<Ends> conditions =
                Stream.generate(() -> newEnds(lock, side)).limit(3).toList();
        List<Running<Boolean>> waiters = conditions.stream()
                .map(ends -> startWaiting("waiter", ends.here(), Form.PLAIN))
                .toList();

        for (int woken : new int[] {1, 2, 0}) {
            conditions.get(woken).there().signalAll();
            waiters.get(woken).result();
            conditions.get(woken).there().assertWaiters(0);
            if (woken > 0) {
                assertNotYet(waiters.get(0));
                conditions.get(0).there().assertWaiters(1);
            }
        }

        conditions.forEach(this::assertLeftClean);
    }

    @ParameterizedTest
    @MethodSource("contendersAndForms")
    @DisplayName("a signalled waiter is no longer counted, and doesn't return before the signaller's last release")
    void signalledWaiterWaitsForLock(Contender contender, Form form) {
        Ends ends = newEnds(contender);
        AtomicBoolean released = new AtomicBoolean();
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), 1, () -> {
            form.on(ends.here().condition());
            return released.get();
        });

        ends.there().lock().lock();
        ends.there().lock().lock();
        ends.there().condition().signal();
        ends.there().assertWaitersOfHeldLock(0);
        if (contender == Contender.SAME_OBJECT) {
            await("its place in the queue of the lock")
                    .until(() -> ends.there().lock().hasQueuedThread(waiter.thread()));
        }
        ends.there().lock().unlock();
        assertNotYet(waiter);
        released.set(true);
        ends.there().lock().unlock();

        assertThat(waiter.result()).as("returned after the release").isTrue();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "a signalled waiter queues for the lock like anybody: behind those who were there, if the lock is fair")
    void signalledWaiterQueues(Contender contender) {
        Ends ends = newEnds(contender);
        List<String> entered = Collections.synchronizedList(new ArrayList<>());
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), 1, () -> {
            Form.PLAIN.on(ends.here().condition());
            return entered.add("waiter");
        });
        ends.there().lock().lock();
        Running<Boolean> queued = threads().start("queued", () -> {
            ends.here().lock().lock();
            entered.add("queued");
            ends.here().lock().unlock();
        });
        awaitWaiting(ends.here().lock(), queued.thread());

        ends.there().condition().signal();
        ends.there().lock().unlock();
        waiter.result();
        queued.result();

        assertThat(entered).containsExactlyInAnyOrder("queued", "waiter");
        if (fifo(contender)) {
            assertThat(entered).containsExactly("queued", "waiter");
        }
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("waiters are counted through every object, as threads they are seen through their own")
    void showsConditionWaiters(Contender contender) {
        Ends ends = newEnds(contender);
        List<Integer> returned = newOrder();
        List<Running<Boolean>> waiters = startWaiters(ends, returned);

        for (int end = 0; end < 2; end++) {
            int own = end;
            ends.of(end).assertWaiters(WAITERS);
            assertThat(ends.of(end).waitingThreads().toArray())
                    .containsExactlyInAnyOrder(seen(contender, own, waiters, 0));
        }
        assertNobodyQueued(ends.here().lock());

        ends.there().signalAll();
        waiters.forEach(Running::result);
        assertThat(ends.here().waitingThreads()).isEmpty();
        assertThat(ends.there().waitingThreads()).isEmpty();
        assertLeftClean(ends);
    }

    /** The waiters from a place on that are seen through one end. */
    private static Object[] seen(Contender contender, int end, List<Running<Boolean>> waiters, int from) {
        return IntStream.range(from, WAITERS)
                .filter(place -> contender == Contender.SAME_OBJECT || place % 2 == end)
                .mapToObj(place -> waiters.get(place).thread())
                .toArray();
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "who is signalled doesn't wait for the condition any more, though the signaller goes on holding the lock")
    void showsNobodySignalled(Contender contender) {
        Ends ends = newEnds(contender);
        List<Running<Boolean>> waiters = startWaiters(ends, newOrder());
        ReentrantLock lock = ends.here().lock();

        lock.lock();
        for (int signals = 1; signals <= WAITERS; signals++) {
            ends.here().condition().signal();

            assertThat(LockProbe.waitingThreads(lock, ends.here().condition()).toArray())
                    .as("after %d signals", signals)
                    .containsExactlyInAnyOrder(seen(contender, 0, waiters, signals));
            ends.here().assertWaitersOfHeldLock(WAITERS - signals);
        }
        lock.unlock();
        waiters.forEach(Running::result);
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a signal that races with the interrupt of its waiter wakes that one or the next, never none or both")
    void interruptLosesNoSignal(Contender contender) {
        Ends ends = newEnds(contender);
        for (int race = 0; race < RACES; race++) {
            CyclicBarrier barrier = new CyclicBarrier(2);
            Running<Boolean> first = startWaiting("first", ends.of(race), 1, interruptibly(ends.of(race)));
            Running<Boolean> second = startWaiting("second", ends.of(race / 2), Form.PLAIN);
            int headStart = race;
            Running<Boolean> interrupter = threads().start("interrupter", () -> {
                meet(barrier);
                LockSupport.parkNanos(headStart * 10_000L);
                first.thread().interrupt();
            });
            End signaller = ends.of(race / 4);

            signaller.lock().lock();
            meet(barrier);
            signaller.condition().signal();
            signaller.lock().unlock();

            interrupter.result();
            assertExactlyOneWoken(ends, first.result(), second);
        }
        assertLeftClean(ends);
    }

    private static Callable<Boolean> interruptibly(End end) {
        return () -> {
            try {
                Form.PLAIN.on(end.condition());
                return true;
            } catch (InterruptedException e) {
                return false;
            }
        };
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a signal that races with the time-out of its waiter wakes that one or the next, never none or both")
    void timeoutLosesNoSignal(Contender contender) {
        Ends ends = newEnds(contender);
        for (int race = 0; race < RACES; race++) {
            End mine = ends.of(race);
            Form form = race % 3 == 0 ? Form.UNTIL : Form.TIME;
            AtomicLong begin = new AtomicLong();
            Running<Boolean> first = startWaiting("first", mine, 1, () -> {
                begin.set(System.nanoTime());
                return form.on(mine.condition(), shortWait());
            });
            Running<Boolean> second = startWaiting("second", ends.of(race / 2), Form.PLAIN);
            End signaller = ends.of(race / 4);

            // Aims at the end of the first one's time, from a little before it to a little after.
            signaller.lock().lock();
            long lead = (race - RACES / 2) * 50_000L;
            long aim = begin.get() + shortWait().toNanos() + lead;
            while (System.nanoTime() - aim < 0) {
                Thread.onSpinWait();
            }
            signaller.condition().signal();
            signaller.lock().unlock();

            assertExactlyOneWoken(ends, first.result(), second);
        }
        assertLeftClean(ends);
    }

    private static void assertExactlyOneWoken(Ends ends, boolean first, Running<Boolean> second) {
        if (first) {
            ends.there().assertWaiters(1);
            ends.there().signal();
        }
        second.result();
        ends.here().assertWaiters(0);
    }

    private void meet(CyclicBarrier barrier) {
        try {
            barrier.await(patience().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("two threads pass the turn to each other through two conditions")
    void takesTurns(Contender contender) {
        against(contender);
        List<Ends> turns = List.of(newEnds(lock, side), newEnds(lock, side));
        int[] turn = {0};
        int total = crowd() / 10;
        IntFunction<Running<Boolean>> player = self -> threads().start("player " + self, () -> {
            End mine = turns.get(self).of(self);
            End others = turns.get(1 - self).of(self);
            mine.lock().lock();
            while (turn[0] < total) {
                if (turn[0] % 2 == self) {
                    turn[0]++;
                    others.condition().signal();
                } else {
                    mine.condition().await();
                }
            }
            others.condition().signal();
            mine.lock().unlock();
        });
        List<Running<Boolean>> players = List.of(player.apply(0), player.apply(1));

        players.forEach(Running::result);

        assertThat(turn[0]).isEqualTo(total);
        turns.forEach(this::assertLeftClean);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "a bounded buffer hands over every element once, in order, through a storm of interrupts and time-outs")
    void buffersThroughStorm(Contender contender) {
        against(contender);
        Buffer buffer = new Buffer(newEnds(lock, side), newEnds(lock, side));
        int elements = crowd() / 10;
        List<Running<Integer>> producers = IntStream.range(0, 2)
                .mapToObj(self -> threads().start("producer " + self, () -> {
                    for (int element = 0; element < elements; element++) {
                        buffer.put(self, self * elements + element);
                    }
                    return elements;
                }))
                .toList();
        List<Running<List<Integer>>> consumers = IntStream.range(0, 2)
                .mapToObj(self -> threads().start("consumer " + self, () -> {
                    List<Integer> taken = new ArrayList<>();
                    for (int element = 0; element < elements; element++) {
                        taken.add(buffer.take(self));
                    }
                    return taken;
                }))
                .toList();

        List<Running<?>> everybody =
                Stream.concat(producers.stream(), consumers.stream()).toList();
        long deadline = System.nanoTime() + patience().toNanos();
        while (everybody.stream().anyMatch(one -> one.thread().isAlive()) && System.nanoTime() < deadline) {
            everybody.forEach(one -> {
                one.thread().interrupt();
                LockSupport.parkNanos(100_000);
            });
        }
        producers.forEach(Running::result);
        List<List<Integer>> taken = consumers.stream().map(Running::result).toList();

        assertThat(taken.stream().flatMap(List::stream).toList())
                .containsExactlyInAnyOrderElementsOf(firstOf(2 * elements));
        for (List<Integer> ofOne : taken) {
            assertThat(ofOne.stream().filter(element -> element < elements)).isSorted();
            assertThat(ofOne.stream().filter(element -> element >= elements)).isSorted();
        }
        assertLeftClean(buffer.notFull);
        assertLeftClean(buffer.notEmpty);
    }

    /**
     * Wakes one at a time, and so hangs where a signal is lost. Its users wait in all forms, and start again when
     * interrupted.
     */
    private static final class Buffer {
        private static final int CAPACITY = 2;
        private static final Duration BRIEF = Duration.ofMillis(1);

        private final Ends notFull;
        private final Ends notEmpty;
        private final int[] elements = new int[CAPACITY];
        private int count;
        private int forms;

        Buffer(Ends notFull, Ends notEmpty) {
            this.notFull = notFull;
            this.notEmpty = notEmpty;
        }

        void put(int end, int element) {
            notFull.of(end).lock().lock();
            while (count == CAPACITY) {
                doze(notFull.of(end));
            }
            elements[count] = element;
            count++;
            notEmpty.of(end).condition().signal();
            notFull.of(end).lock().unlock();
        }

        int take(int end) {
            notEmpty.of(end).lock().lock();
            while (count == 0) {
                doze(notEmpty.of(end));
            }
            int element = elements[0];
            System.arraycopy(elements, 1, elements, 0, CAPACITY - 1);
            count--;
            notFull.of(end).condition().signal();
            notEmpty.of(end).lock().unlock();
            return element;
        }

        private void doze(End end) {
            Form form = Form.inTurn(forms++);
            try {
                form.on(end.condition(), forms % 7 == 0 ? BRIEF : Duration.ofHours(1));
            } catch (InterruptedException e) {
                assertHeldHere(end.lock(), 1);
            }
        }
    }
}
