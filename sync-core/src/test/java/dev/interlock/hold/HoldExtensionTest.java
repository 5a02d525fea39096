package dev.interlock.hold;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.Hold;
import dev.interlock.LeaseLostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A fixed lease can be extended, for as long as it isn't over. */
class HoldExtensionTest extends HoldFixture {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private Hold held(Duration lease, String... names) throws InterruptedException {
        return mine.holds()
                .lease(lease)
                .tryHoldAll(List.of(names), Duration.ZERO)
                .orElseThrow();
    }

    private Hold held(String name, Duration lease) throws InterruptedException {
        return mine.holds().lease(lease).tryHold(name, Duration.ZERO).orElseThrow();
    }

    private long leftMillis(String name) {
        return (Long) requireNonNull(redis.command("PTTL", name));
    }

    private static void extended(Hold hold, Duration lease) {
        assertThat(hold.extend(lease).toCompletableFuture()).succeedsWithin(PATIENCE);
    }

    private static void assertNotExtended(Hold hold, Class<? extends Exception> why) {
        assertThat(hold.extend(MINUTE).toCompletableFuture())
                .failsWithin(PATIENCE)
                .withThrowableThat()
                .withCauseInstanceOf(why);
    }

    @Test
    void anExtendedLeaseLastsLonger() throws InterruptedException {
        String name = freshName();
        Hold hold = held(name, SECOND);
        extended(hold, MINUTE);
        assertThat(leftMillis(name)).isGreaterThan(SECOND.toMillis());
        await("the end of the first lease")
                .atMost(PATIENCE)
                .during(SECOND.plus(SHORT))
                .until(hold::isValid);
        assertThat(other.holds().tryHold(name, Duration.ZERO)).isEmpty();
        released(hold);
        released(other.holds().tryHold(name, Duration.ZERO).orElseThrow());
    }

    @Test
    void anExtensionShortensNoLease() throws InterruptedException {
        String name = freshName();
        Hold hold = held(name, MINUTE);
        extended(hold, SHORT);
        assertThat(leftMillis(name)).isGreaterThan(SECOND.toMillis());
        await("the time of the extension")
                .atMost(PATIENCE)
                .during(SHORT.multipliedBy(2))
                .until(hold::isValid);
        released(hold);
    }

    @Test
    void anExtendedLeaseEnds() throws InterruptedException {
        String name = freshName();
        Hold hold = held(name, SECOND);
        extended(hold, SECOND.plus(SHORT));
        assertThat(hold.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        assertNotExtended(hold, LeaseLostException.class);
        released(acquired(other.holds().acquire(name)));
        // By now nobody of this session may rely on it either.
        released(acquired(mine.holds().acquire(name)));
    }

    @Test
    void aHoldThatWasTakenAwayIsLost() throws InterruptedException {
        String name = freshName();
        Hold hold = held(name, MINUTE);
        redis.command("DEL", name);
        assertNotExtended(hold, LeaseLostException.class);
        assertThat(hold.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        assertThat(hold.isValid()).isFalse();
        assertThat(redis.keys()).doesNotContain(name);
    }

    @Test
    void allNamesAreExtended() throws InterruptedException {
        String first = freshName() + "a";
        String second = freshName() + "b";
        Hold hold = held(SECOND, first, second);
        extended(hold, MINUTE);
        assertThat(leftMillis(first)).isGreaterThan(SECOND.toMillis());
        assertThat(leftMillis(second)).isGreaterThan(SECOND.toMillis());
        redis.command("DEL", second);
        assertNotExtended(hold, LeaseLostException.class);
        hold.release();
    }

    @Test
    void aReleasedHoldIsNotExtended() throws InterruptedException {
        Hold hold = held(freshName(), MINUTE);
        released(hold);
        assertThatThrownBy(() -> hold.extend(MINUTE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has been released");
    }

    /** It may or may not be in time, and leaves nothing behind. */
    @Test
    void anExtensionThatMeetsTheReleaseIsNoLoss() throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            Hold hold = held(freshName(), MINUTE);
            CompletionStage<Void> extension = hold.extend(MINUTE);
            released(hold);
            await().atMost(PATIENCE).until(() -> extension.toCompletableFuture().isDone());
            assertThat(extension
                            .handle((done, failure) -> failure == null || isIllegalState(failure))
                            .toCompletableFuture())
                    .isCompletedWithValue(true);
            assertThat(hold.lost().toCompletableFuture()).isNotDone();
        }
    }

    private static boolean isIllegalState(Throwable failure) {
        return failure.getClass() == IllegalStateException.class
                || (failure.getCause() != null && failure.getCause().getClass() == IllegalStateException.class);
    }

    @Test
    void onlyFixedLeasesAreExtended() throws InterruptedException {
        Hold hold = mine.holds().hold(freshName());
        assertThatThrownBy(() -> hold.extend(MINUTE))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("is renewed until it is released");
        assertThat(hold.isValid()).isTrue();
        released(hold);
    }

    @Test
    void aLeaseHasItsRange() throws InterruptedException {
        Hold hold = held(freshName(), MINUTE);
        for (Duration wrong : List.of(Duration.ZERO, Duration.ofMillis(99), Duration.ofDays(366))) {
            assertThatThrownBy(() -> hold.extend(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("lease must be from 100 ms to 365 days");
        }
        released(hold);
    }
}
