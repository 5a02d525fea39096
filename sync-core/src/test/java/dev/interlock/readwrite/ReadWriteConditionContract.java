package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.lock.Form;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.TestThreads.Running;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Signalling the waiters of a {@link ReentrantReadWriteLock}'s write lock. */
@SuppressWarnings({
    "LockNotBeforeTry", // The lock is the subject: a test that fails holding it is over.
    "WaitNotInLoop" // That a wait returns for nothing but its reason is the subject, too.
})
abstract class ReadWriteConditionContract extends ReadWriteAwaitContract {

    private static final int WAITERS = 5;

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a signal goes to one waiter: who is interrupted after it returns normally, or it goes to the next")
    void signalIsNotLost(Contender contender) {
        Ends ends = newEnds(contender);
        boolean mayBeEarly = deviates(Deviation.SIGNAL_TRAVELS_WITH_RELEASE) && contender == Contender.OTHER_SESSION;
        Running<Boolean> isSignalled = startWaiting("waiter", ends.here(), WRITES, 0, () -> {
            try {
                ends.here().condition().await();
            } catch (InterruptedException e) {
                assertThat(mayBeEarly).as("interrupted before the signal").isTrue();
                assertThat(Thread.currentThread().isInterrupted()).as("flag").isFalse();
                return false;
            }
            assertThat(Thread.currentThread().isInterrupted()).as("flag").isTrue();
            return true;
        });
        Running<Boolean> next = startWaiting("next", ends.here(), Form.PLAIN);

        ends.there().lock().writeLock().lock();
        ends.there().condition().signal();
        isSignalled.thread().interrupt();
        assertNotYet(isSignalled);
        ends.there().lock().writeLock().unlock();

        if (isSignalled.result()) {
            assertNotYet(next);
            ends.there().signal();
        }
        next.result();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("each signal wakes the one that has waited longest, at either end; signalAll wakes the rest")
    void signalsWakeInOrder(Contender contender) {
        Ends ends = newEnds(contender);
        List<Integer> returned = Collections.synchronizedList(new ArrayList<>());
        ends.there().signal();
        List<Running<Boolean>> waiters = new ArrayList<>();
        for (int place = 0; place < WAITERS; place++) {
            int mine = place;
            Form form = Form.inTurn(place);
            waiters.add(startWaiting("waiter " + place, ends.of(place), 1, 0, () -> {
                assertThat(form.on(ends.of(mine).condition(), FOREVER)).isTrue();
                return returned.add(mine);
            }));
            ends.of(place).lock().writeLock().lock();
            assertThat(ReadWriteLockProbe.waitingThreads(
                                    ends.of(place).lock(), ends.of(place).condition())
                            .contains(waiters.get(place).thread()))
                    .as("shown as waiting")
                    .isTrue();
            ends.of(place).lock().writeLock().unlock();
        }
        assertNotYet(waiters.get(0));

        for (int signals = 1; signals <= 3; signals++) {
            ends.of(signals).signal();
            waiters.get(signals - 1).result();
            assertThat(returned).isEqualTo(IntStream.range(0, signals).boxed().toList());
            ends.of(signals).assertWaiters(WAITERS - signals);
        }
        ends.there().signalAll();
        waiters.forEach(Running::result);

        assertThat(returned).hasSize(WAITERS);
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("two threads that wake each other in turn, one hold deep or more, both come to the end")
    void playsPingPong(Contender contender) {
        Ends ends = newEnds(contender);
        int total = Math.min(crowd() / 10, 200);
        AtomicInteger turn = new AtomicInteger();
        List<Running<Boolean>> players = IntStream.range(0, 2)
                .mapToObj(self -> threads().start("player " + self, () -> {
                    End mine = ends.of(self);
                    hold(mine.lock(), 1 + self, 0);
                    while (turn.get() < total) {
                        if (turn.get() % 2 == self) {
                            turn.incrementAndGet();
                            mine.condition().signal();
                        } else {
                            mine.condition().await();
                        }
                    }
                    mine.condition().signal();
                    release(mine.lock(), 1 + self, 0);
                }))
                .toList();

        players.forEach(Running::result);

        assertThat(turn).hasValue(total);
        assertLeftClean(ends);
    }
}
