package dev.interlock.latch.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Redis forgets latches or scripts; sessions forget objects; both find their way back. */
class LatchLossTest extends LatchFaultFixture {
    /** How a latch can get lost. */
    enum Fault {
        DELETED,
        FLUSHED,
        RESTARTED
    }

    private void lose(Fault fault) {
        switch (fault) {
            case DELETED -> forgetLatch();
            case FLUSHED -> server().command("FLUSHALL");
            case RESTARTED -> server().restart();
        }
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void whoWaitsIsToldThatTheLatchIsLost(Fault fault) {
        Interlock session = session();
        DistributedCountDownLatch latch = of(session, 3);
        DistributedCountDownLatch other = of(session(), 3);
        latch.countDown();
        other.countDown();
        CompletableFuture<Boolean> waits = actor("waiter").begin(latch::await);
        CompletableFuture<Boolean> timed = actor("timed").ask(() -> latch.await(1, TimeUnit.HOURS));
        awaitWaiting(1);
        lose(fault);
        await("told").until(() -> waits.isDone() && timed.isDone());
        assertFails(waits, IllegalStateException.class, NAME, "lost");
        assertFails(timed, IllegalStateException.class, NAME, "lost");
        assertThatThrownBy(latch::getCount)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("lost");
        assertThatThrownBy(latch::countDown)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("lost");
        assertThatThrownBy(latch::await)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("lost");
        assertThatThrownBy(() -> latch.await(0, TimeUnit.SECONDS)).isInstanceOf(IllegalStateException.class);

        DistributedCountDownLatch next = of(session, 2);
        assertThat(next).isNotSameAs(latch);
        assertThat(next.getCount()).isEqualTo(2);
        assertThatThrownBy(other::countDown)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("lost");
        assertThatThrownBy(latch::countDown).isInstanceOf(IllegalStateException.class);
        assertThat(next.getCount()).as("what was counted on the lost one").isEqualTo(2);
        CompletableFuture<Boolean> passes = actor("next").begin(next::await);
        next.countDown();
        next.countDown();
        assertThat(passes).succeedsWithin(PROMPTLY);
    }

    /** What a session has counted stays counted. */
    @Test
    void countDownsOutliveTheirSession() throws InterruptedException {
        Interlock session = session();
        of(session, 2).countDown();
        session.close();
        DistributedCountDownLatch latch = of(session(), 2);
        assertThat(latch.getCount()).isEqualTo(1);
        latch.countDown();
        latch.await();
    }

    @Test
    void closeWaitsForWhatIsNotConfirmed() {
        Interlock session = session();
        DistributedCountDownLatch latch = of(session, 2);
        Actor counter = actor("counter");
        proxy().delay(Duration.ofMillis(150));
        CompletableFuture<Boolean> counts = counter.begin(latch::countDown);
        await("under way").until(() -> counter.thread().getState() == Thread.State.TIMED_WAITING);
        session.close();
        assertThat(left()).isEqualTo(1);
        assertThat(counts).matches(done -> true).isNotCancelled();
    }

    /** A count-down whose object nobody refers to any more is said until it is confirmed. */
    @Test
    void anUnconfirmedCountDownOutlivesItsObject() {
        // The count-down returns after its time-out.
        Interlock session = impatient();
        DistributedCountDownLatch latch = of(session, 2);
        proxy().refuse(true);
        proxy().cut();
        latch.countDown();
        latch = null;
        System.gc();
        assertThat(left()).isEqualTo(2);
        proxy().heal();
        await("counted").until(() -> left() == 1);
        await("the same contributor")
                .ignoreExceptions()
                .until(() -> of(session, 2).getCount() == 1);
    }

    /** Redis crashes, and has lost the last moments: those who have counted down say so again. */
    @Test
    void whatACrashHasCostIsCountedAgain() {
        DistributedCountDownLatch latch = of(session(), 2);
        DistributedCountDownLatch other = of(session(), 2);
        CompletableFuture<Boolean> waits = actor("waiter").begin(other::await);
        awaitWaiting(1);
        saveCopy();
        latch.countDown();
        goBack();
        assertThat(left()).isEqualTo(2);
        await("counted").until(() -> left() == 1);
        other.countDown();
        assertThat(waits).succeedsWithin(PROMPTLY);
    }

    /** Redis goes back to an older copy, and nobody is there any more that could count down again. */
    @Test
    @Tag("proof")
    void whoWaitsIsToldThatCountDownsAreMissing() {
        Interlock leaving = session();
        DistributedCountDownLatch latch = of(leaving, 3);
        DistributedCountDownLatch other = of(session(), 3);
        CompletableFuture<Boolean> waits = actor("waiter").begin(other::await);
        awaitWaiting(1);
        saveCopy();
        latch.countDown();
        leaving.close();
        assertThat(other.getCount()).isEqualTo(2);
        goBack();
        await("told").until(waits::isDone);
        assertFails(waits, IllegalStateException.class, NAME, "lost");
        assertThatThrownBy(other::countDown).isInstanceOf(IllegalStateException.class);
    }

    /** The loss shows when the name is asked for again. */
    @Test
    void aLostLatchIsNotHandedOut() {
        Interlock session = session();
        DistributedCountDownLatch latch = of(session, 3);
        latch.countDown();
        forgetLatch();
        DistributedCountDownLatch next = of(session, 3);
        assertThat(next).isNotSameAs(latch);
        assertThat(next.getCount()).isEqualTo(3);
        assertThatThrownBy(latch::countDown).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void whatIsKnownToBeOpenStaysOpen() throws InterruptedException {
        Interlock session = session();
        DistributedCountDownLatch latch = of(session, 1);
        latch.countDown();
        server().command("FLUSHALL");
        DistributedCountDownLatch next = of(session, 1);
        assertThat(next).isNotSameAs(latch);
        assertThat(next.getCount()).isEqualTo(1);
        latch.await();
        latch.countDown();
        assertThat(latch.getCount()).isZero();
        assertThat(next.getCount()).isEqualTo(1);
        session.close();
        latch.await();
        assertThat(latch.getCount()).isZero();
    }

    @Test
    void aWrongTypeIsRefusedAtOnce() {
        Interlock session = session();
        server().command("SET", KEY, "something");
        assertThatThrownBy(() -> of(session, 2))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(NAME)
                .hasStackTraceContaining("WRONGTYPE");
        server().command("DEL", KEY);
        assertThat(of(session, 2).getCount()).isEqualTo(2);
    }

    /** An object that was collected, and one that is made anew, count for themselves. */
    @Test
    void anObjectThatWasCollectedIsNotTheNextOne() {
        Interlock session = session();
        WeakReference<DistributedCountDownLatch> first = countOnce(session);
        await("collected").until(() -> {
            System.gc();
            return first.get() == null;
        });
        of(session, 5).countDown();
        assertThat(left()).isEqualTo(3);
    }

    private static WeakReference<DistributedCountDownLatch> countOnce(Interlock session) {
        DistributedCountDownLatch latch = of(session, 5);
        latch.countDown();
        return new WeakReference<>(latch);
    }
}
