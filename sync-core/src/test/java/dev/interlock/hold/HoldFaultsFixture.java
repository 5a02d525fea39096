package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Hold;
import dev.interlock.RedisUnavailableException;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.TooLate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** What tests of holds under faults have in common. */
abstract class HoldFaultsFixture extends FaultFixture {
    static final String NAME = "stock";

    /** What is lost on a silent connection is repeated after a time-out. */
    @Override
    protected Duration commandTimeout() {
        return SHORT_TIMEOUT;
    }

    static Hold acquired(CompletableFuture<Hold> asked) {
        assertThat(asked).succeedsWithin(PATIENCE);
        return asked.join();
    }

    static void released(Hold hold) {
        assertThat(hold.release().toCompletableFuture()).succeedsWithin(PATIENCE);
    }

    static void assertWaits(CompletableFuture<?> asked) {
        assertThat(asked).failsWithin(Duration.ofMillis(50));
    }

    static void assertUnavailable(CompletableFuture<?> asked) {
        assertFails(asked, RedisUnavailableException.class, ".*");
    }

    /** Asserts that a stage fails, sooner or later. */
    static void assertFails(CompletableFuture<?> stage, Class<? extends Exception> by, String message) {
        assertThat(stage)
                .failsWithin(PATIENCE)
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOf(by)
                .withMessageMatching(message);
    }

    /** Asserts that another session gets the name soon. */
    final void assertAvailable(String name) {
        Hold next = awaited("another session's hold", undisturbed().holds().acquire(name), PROMPTLY);
        released(next);
    }

    static Hold awaited(String what, CompletableFuture<Hold> asked, Duration bound) {
        long begun = System.nanoTime();
        Hold hold = acquired(asked);
        TooLate.assertWithin(what, bound, Duration.ofNanos(System.nanoTime() - begun));
        return hold;
    }
}
