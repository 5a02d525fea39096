package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Interrupting a wait on a condition of a {@link ReentrantLock}, before it, in it, and after the signal. */
@SuppressWarnings({
    "LockNotBeforeTry", // The lock is the subject: a test that fails holding it is over.
    "WaitNotInLoop" // That a wait returns for nothing but its reason is the subject, too.
})
abstract class ConditionInterruptContract extends ConditionWaitContract {

    final Stream<Arguments> contendersAndInterruptibleForms() {
        return contendersWith(Form.PLAIN, Form.NANOS, Form.TIME, Form.UNTIL);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNINTERRUPTIBLY")
    @DisplayName("with the interrupt flag set await throws before it gives up anything, and clears the flag")
    void interruptFlagForbidsWait(Form form) {
        End end = newEnds(Contender.SAME_OBJECT).here();
        AtomicBoolean mayEnter = new AtomicBoolean();
        end.lock().lock();
        end.lock().lock();
        Running<Boolean> queued = threads().start("queued", () -> {
            end.lock().lock();
            end.lock().unlock();
            return mayEnter.get();
        });
        awaitWaiting(end.lock(), queued.thread());

        for (Duration time : List.of(FOREVER, Duration.ZERO, Duration.ofNanos(-1))) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> form.on(end.condition(), time)).isExactlyInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).as("flag").isFalse();
            assertHeldHere(end.lock(), 2);
        }

        end.assertWaitersOfHeldLock(0);
        mayEnter.set(true);
        end.lock().unlock();
        end.lock().unlock();
        assertThat(queued.result()).as("entered after the release").isTrue();
    }

    @ParameterizedTest
    @MethodSource("contendersAndInterruptibleForms")
    @DisplayName("an interrupted waiter is no longer counted, "
            + "and throws when it has the lock with all its holds and no flag")
    void interruptEndsAwait(Contender contender, Form form) {
        Ends ends = newEnds(contender);
        AtomicBoolean released = new AtomicBoolean();
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), HOLDS, () -> {
            assertThatThrownBy(() -> form.on(ends.here().condition())).isExactlyInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).as("flag").isFalse();
            return released.get();
        });
        ends.there().lock().lock();

        waiter.thread().interrupt();
        assertReturnsAfterRelease(ends, waiter, released);
    }

    @ParameterizedTest
    @MethodSource("contendersAndForms")
    @DisplayName("who is interrupted after the signal returns normally, with the flag set")
    void interruptAfterSignalIsKept(Contender contender, Form form) {
        Ends ends = newEnds(contender);
        boolean mayBeEarly = deviates(Deviation.SIGNAL_TRAVELS_WITH_RELEASE) && contender == Contender.OTHER_SESSION;
        Running<Boolean> isSignalled = startWaiting("waiter", ends.here(), HOLDS, () -> {
            try {
                form.on(ends.here().condition());
            } catch (InterruptedException e) {
                assertThat(mayBeEarly).as("interrupted before the signal").isTrue();
                assertThat(Thread.currentThread().isInterrupted()).as("flag").isFalse();
                return false;
            }
            assertThat(Thread.currentThread().isInterrupted()).as("flag").isTrue();
            return true;
        });
        Running<Boolean> next = startWaiting("next", ends.here(), Form.PLAIN);

        ends.there().lock().lock();
        ends.there().condition().signal();
        isSignalled.thread().interrupt();
        assertNotYet(isSignalled);
        ends.there().lock().unlock();

        if (isSignalled.result()) {
            assertNotYet(next);
            ends.there().signal();
        }
        next.result();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("awaitUninterruptibly waits on however often it's interrupted, and returns with the flag set")
    void interruptDoesNotEndUninterruptibleWait(Contender contender) {
        Ends ends = newEnds(contender);
        Running<Boolean> flagged = startWaiting("flagged", ends.here(), HOLDS, () -> {
            Thread.currentThread().interrupt();
            ends.here().condition().awaitUninterruptibly();
            return Thread.currentThread().isInterrupted();
        });
        Running<Boolean> interrupted = startWaiting("interrupted", ends.here(), HOLDS, () -> {
            ends.here().condition().awaitUninterruptibly();
            return Thread.currentThread().isInterrupted();
        });

        for (int interrupts = 0; interrupts < 3; interrupts++) {
            interrupted.thread().interrupt();
            assertNotYet(interrupted);
        }
        assertNotYet(flagged);
        ends.there().assertWaiters(2);
        ends.there().signalAll();

        assertThat(flagged.result()).as("flag").isTrue();
        assertThat(interrupted.result()).as("flag").isTrue();
        assertLeftClean(ends);
    }
}
