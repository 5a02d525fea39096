package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.TestThreads.Running;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Signalling on a condition of a {@link ReentrantLock}: whom a signal wakes, and what shows who waits. */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class ConditionSignalContract extends ConditionInterruptContract {

    private static final int WAITERS = 6;

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

    static List<Integer> firstOf(int count) {
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
}
