package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
abstract class ConditionContract extends ConditionSignalContract {

    private static final int RACES = 25;

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
                .mapToObj(self -> threads().start("consumer " + self, () -> buffer.take(self, elements)))
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

        List<Integer> take(int end, int elements) {
            List<Integer> taken = new ArrayList<>();
            for (int element = 0; element < elements; element++) {
                taken.add(take(end));
            }
            return taken;
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
