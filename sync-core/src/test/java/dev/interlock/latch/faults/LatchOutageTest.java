package dev.interlock.latch.faults;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Redis is gone for a while: nobody hangs, nobody passes, no count-down is lost. */
class LatchOutageTest extends LatchFaultFixture {
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(3);

    /**
     * Until anybody notices: the next pulse and its command time-out, and the second in which a waiter looks around.
     */
    private static final Duration NOTICED = Duration.ofSeconds(2).plus(SHORT_TIMEOUT);

    /** The ways in which Redis can be gone. */
    enum Fault {
        KILLED,
        PAUSED,
        REFUSED,
        STALLED
    }

    private void begin(Fault fault) {
        switch (fault) {
            case KILLED -> server().kill();
            case PAUSED -> server().pause();
            case REFUSED -> {
                proxy().refuse(true);
                proxy().cut();
            }
            case STALLED -> proxy().stall();
        }
    }

    private void end(Fault fault) {
        switch (fault) {
            case KILLED -> server().restart();
            case PAUSED -> server().resume();
            case REFUSED, STALLED -> proxy().heal();
        }
    }

    @Override
    protected List<String> serverArguments() {
        return List.of("--appendonly", "yes", "--appendfsync", "always");
    }

    /** Each test waits for commands to time out. */
    @Override
    protected Duration commandTimeout() {
        return SHORT_TIMEOUT;
    }

    private static void assertUnavailable(CompletableFuture<?> call, Duration within) {
        assertThat(call)
                .failsWithin(within)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(RedisUnavailableException.class);
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    @Tag("proof")
    void nobodyHangsAndNothingIsLost(Fault fault) {
        Interlock impatient = session(builder -> builder.redisTimeout(REDIS_TIMEOUT));
        DistributedCountDownLatch latch = of(impatient, 3);
        DistributedCountDownLatch patient = of(session(), 3);
        CompletableFuture<Boolean> forEver = actor("for ever").begin(latch::await);
        CompletableFuture<Boolean> stays = actor("stays").begin(patient::await);
        awaitWaiting(2);
        begin(fault);
        long begun = System.nanoTime();
        CompletableFuture<Boolean> timed = actor("timed").ask(() -> latch.await(1, TimeUnit.SECONDS));
        CompletableFuture<Boolean> counts = actor("counter").begin(latch::countDown);
        CompletableFuture<Boolean> counts2 = actor("counter-2").begin(patient::countDown);
        CompletableFuture<Boolean> once = actor("once").ask(() -> latch.await(0, TimeUnit.SECONDS));
        CompletableFuture<Long> asks = actor("asks").ask(latch::getCount);
        assertThat(counts).succeedsWithin(SHORT_TIMEOUT.plus(SLACK));
        assertThat(counts2).succeedsWithin(SHORT_TIMEOUT.plus(SLACK));
        assertUnavailable(once, SHORT_TIMEOUT.plus(SLACK));
        assertUnavailable(asks, SHORT_TIMEOUT.plus(SLACK));
        assertUnavailable(timed, Duration.ofSeconds(1).plus(SLACK));
        assertUnavailable(forEver, REDIS_TIMEOUT.plus(NOTICED).plus(SLACK));
        assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(REDIS_TIMEOUT.toNanos() / 2);
        assertThat(stays).isNotDone();
        end(fault);
        await("both counted").ignoreExceptions().until(() -> left() == 1);
        assertThat(stays).isNotDone();
        await("counts on").ignoreExceptions().until(() -> latch.getCount() == 1);
        latch.countDown();
        assertThat(stays).succeedsWithin(PATIENCE);
        await("open").ignoreExceptions().until(() -> latch.await(1, TimeUnit.SECONDS));
    }

    @Test
    void aLatchCannotBeObtainedWithoutRedis() {
        Interlock session = session();
        proxy().stall();
        long start = System.nanoTime();
        assertThatThrownBy(() -> of(session, 2))
                .isInstanceOf(RedisUnavailableException.class)
                .hasMessageContaining(NAME);
        assertWithin(SHORT_TIMEOUT.plus(SLACK), Duration.ofNanos(System.nanoTime() - start));
        proxy().heal();
        await("obtained").ignoreExceptions().until(() -> of(session, 2).getCount() == 2);
        assertThatThrownBy(() -> of(session, 4)).isInstanceOf(IllegalArgumentException.class);
    }

    /** A count-down whose object nobody refers to any more is said until it is confirmed. */
    @Test
    void anUnconfirmedCountDownOutlivesItsObject() {
        Interlock session = session();
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
}
