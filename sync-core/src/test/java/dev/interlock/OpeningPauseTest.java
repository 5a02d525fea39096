package dev.interlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class OpeningPauseTest {
    /** A thread that waited during the attempt may still have an unpark pending. */
    @Test
    void attemptsPauseThoughTheirThreadHasAPermitToGoOn() {
        AtomicInteger attempts = new AtomicInteger();
        assertThatThrownBy(() -> Opening.open(TimeUnit.SECONDS.toNanos(1), true, () -> {
                    attempts.incrementAndGet();
                    LockSupport.unpark(Thread.currentThread());
                    throw new RedisUnavailableException("Redis is loading", null);
                }))
                .isInstanceOf(RedisUnavailableException.class);
        assertThat(attempts).hasValueBetween(1, 6);
    }
}
