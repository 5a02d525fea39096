package dev.interlock.latch.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeEach;

/** What tests of latches need of a faulty network. */
abstract class LatchFaultFixture extends FaultFixture {
    static final String NAME = "batch";
    static final String KEY = "interlock:{" + NAME + "}:latch";

    /** The script must be there already: a refusal would be taken for the request that a test means. */
    @BeforeEach
    void useTheScript() {
        undisturbed().countDownLatch("warm", 0);
    }

    /** What expires by itself. */
    @Override
    protected String lasting() {
        return "mark|token|turns|signals|latch";
    }

    static DistributedCountDownLatch of(Interlock session, int count) {
        return session.countDownLatch(NAME, count);
    }

    final long left() {
        return Long.parseLong(String.valueOf(server().command("HGET", KEY, "left")));
    }

    @Override
    protected String queueKey() {
        return "interlock:waiters:" + KEY;
    }

    final void forgetLatch() {
        server().command("DEL", KEY, "interlock:totals:" + KEY, "interlock:waiters:" + KEY);
    }

    static void assertFails(CompletableFuture<?> wait, Class<? extends Throwable> failure, String... words) {
        assertThat(wait)
                .failsWithin(PATIENCE)
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOf(failure)
                .satisfies(cause -> assertThat(List.of(words))
                        .allSatisfy(word -> assertThat(cause).hasMessageContaining(word)));
    }
}
