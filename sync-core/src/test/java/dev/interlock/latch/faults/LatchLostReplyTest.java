package dev.interlock.latch.faults;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A count-down whose answer is lost, or which arrives twice or late, counts once; a lost message costs a second. */
@Tag("proof")
class LatchLostReplyTest extends LatchFaultFixture {

    static Stream<Loss> losses() {
        return Stream.of(Loss.CUT, Loss.MUTE);
    }

    @ParameterizedTest
    @MethodSource("losses")
    void countingDownCountsOnce(Loss loss) {
        Interlock session = session();
        DistributedCountDownLatch latch = of(session, 3);
        proxy().dropReplies(told(session), 1, loss);
        long start = System.nanoTime();
        latch.countDown();
        assertWithin(COMMAND_TIMEOUT.plus(SLACK), Duration.ofNanos(System.nanoTime() - start));
        assertThat(dropped()).isPositive();
        assertThat(left()).isEqualTo(2);
        await("answered").ignoreExceptions().until(() -> latch.getCount() == 2);
        assertThat(left()).isEqualTo(2);
    }

    @Test
    void messagesThatAreLostCostASecond() {
        DistributedCountDownLatch counted = of(undisturbed(), 1);
        DistributedCountDownLatch latch = of(session(), 1);
        proxy().dropMessages(LatchFaultFixture::isOpening, FaultProxy.ALWAYS);
        long before = proxy().droppedMessages();
        CompletableFuture<Boolean> passes = actor("waiter").begin(latch::await);
        CompletableFuture<Boolean> inTime = actor("timed").ask(() -> latch.await(1, TimeUnit.HOURS));
        awaitWaiting(1);
        counted.countDown();
        assertThat(passes).succeedsWithin(PROMPTLY);
        assertThat(inTime).succeedsWithin(PROMPTLY).isEqualTo(true);
        assertThat(proxy().droppedMessages() - before).isEqualTo(1);
    }

    @Test
    void aMailboxThatIsCutOffCostsASecond() {
        DistributedCountDownLatch counted = of(undisturbed(), 1);
        DistributedCountDownLatch latch = of(session(), 1);
        CompletableFuture<Boolean> passes = actor("waiter").begin(latch::await);
        awaitWaiting(1);
        killMailboxes();
        counted.countDown();
        assertThat(passes).succeedsWithin(PROMPTLY);
    }

    /** A message of the latch that had the name before must not open the one that has it now. */
    @Test
    void aLateMessageOpensNoOtherLatch() {
        Duration late = Duration.ofMillis(1_500);
        Interlock session = session();
        DistributedCountDownLatch first = session.countDownLatch(NAME, 1, Duration.ofSeconds(1));
        Interlock other = undisturbed();
        DistributedCountDownLatch counted = other.countDownLatch(NAME, 1, Duration.ofSeconds(1));
        proxy().delayMessages(LatchFaultFixture::isOpening, late, 1);
        CompletableFuture<Boolean> passes = actor("waiter").begin(first::await);
        awaitWaiting(1);
        counted.countDown();
        await("the end of the retention")
                .until(() -> server().command("EXISTS", KEY) instanceof Long keys && keys == 0);
        assertThat(passes).succeedsWithin(PROMPTLY);
        DistributedCountDownLatch second = session.countDownLatch(NAME, 1, Duration.ofSeconds(1));
        assertThat(second).isNotSameAs(first);
        CompletableFuture<Boolean> next = actor("next").begin(second::await);
        await("the message").during(late).until(() -> !next.isDone());
        other.countDownLatch(NAME, 1).countDown();
        assertThat(next).succeedsWithin(PROMPTLY);
    }

    /** Every command twice, the second time when much has happened since. */
    @ParameterizedTest
    @ValueSource(longs = {0, 700})
    void duplicatesChangeNothing(long laterMillis) {
        Interlock session = session();
        Interlock other = session();
        long before = proxy().duplicated();
        proxy().duplicateRequests(told(), Duration.ofMillis(laterMillis), FaultProxy.ALWAYS);
        DistributedCountDownLatch latch = of(session, 10);
        DistributedCountDownLatch rival = of(other, 10);
        CompletableFuture<Boolean> passes = actor("waiter").begin(latch::await);
        for (int i = 0; i < 4; i++) {
            latch.countDown();
            rival.countDown();
        }
        await("duplicates").until(() -> proxy().duplicated() - before >= 10);
        assertThat(left()).isEqualTo(2);
        assertThat(latch.getCount()).isEqualTo(2);
        rival.countDown();
        assertThat(passes).isNotDone();
        latch.countDown();
        assertThat(passes).succeedsWithin(PROMPTLY);
        proxy().heal();
        Interlock late = undisturbed();
        assertThat(of(late, 10).getCount()).isZero();
    }

    /** A duplicate that comes when the latch is forgotten brings nothing back. */
    @Test
    void duplicatesOfTheDeadRaiseNobody() {
        Interlock session = session();
        long before = proxy().duplicated();
        proxy().duplicateRequests(told(session), Duration.ofMillis(1_500), 2);
        DistributedCountDownLatch latch = of(session, 2);
        latch.countDown();
        forgetLatch();
        await("duplicates").until(() -> proxy().duplicated() - before == 2);
        assertThat(server().command("EXISTS", KEY)).isEqualTo(0L);
    }
}
