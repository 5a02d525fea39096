package dev.interlock.testing;

import static dev.interlock.testing.OnlyLateTestsRepeat.isLate;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Which failures of a test may go away when it is repeated. */
class OnlyLateTestsRepeatTest {
    private static final Duration SHORT = Duration.ofMillis(20);

    private static Throwable failure(ThrowingCallable test) {
        Throwable failure = catchThrowable(test);
        assertThat(failure).isNotNull();
        return failure;
    }

    @Test
    void whatWasTooLateMayBeInTimeNext() {
        assertThat(isLate(failure(() -> TooLate.assertWithin(SHORT, SHORT)))).isTrue();
        assertThat(isLate(failure(() -> TooLate.assertBetween(SHORT, SHORT, SHORT.plusNanos(1)))))
                .isTrue();
        assertThat(isLate(failure(
                        () -> await().pollDelay(Duration.ZERO).atMost(SHORT).until(() -> false))))
                .isTrue();
        var never = new CompletableFuture<Boolean>();
        assertThat(isLate(failure(() -> assertThat(never).succeedsWithin(SHORT))))
                .isTrue();
        assertThat(isLate(failure(() -> assertThat(never).as("named").succeedsWithin(SHORT))))
                .isTrue();
        assertThat(isLate(failure(
                        () -> assertThat(never).failsWithin(SHORT).withThrowableOfType(ExecutionException.class))))
                .isTrue();
    }

    @Test
    void whatMustNeverHappenHasHappened() {
        assertThat(isLate(failure(() -> assertThat(2).as("threads inside").isEqualTo(1))))
                .isFalse();
        assertThat(isLate(failure(() -> TooLate.assertBetween(SHORT, SHORT, SHORT.minusNanos(1)))))
                .isFalse();
        CompletableFuture<Boolean> failed = CompletableFuture.failedFuture(new IllegalStateException());
        assertThat(isLate(failure(() -> assertThat(failed).succeedsWithin(SHORT))))
                .isFalse();
        Throwable late = failure(() -> TooLate.assertWithin(SHORT, SHORT));
        late.addSuppressed(new AssertionError("something is left behind"));
        assertThat(isLate(late)).isFalse();
    }
}
