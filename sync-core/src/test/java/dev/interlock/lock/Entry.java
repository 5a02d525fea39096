package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/** How a thread comes by a {@link Lock}. */
@FunctionalInterface
public interface Entry {
    /** Returns whether it has got it. */
    boolean into(Lock lock) throws InterruptedException;

    /** An entry with a time-out, which it doesn't give up before. */
    static Entry within(Duration timeout) {
        return lock -> {
            long begin = System.nanoTime();
            boolean entered = lock.tryLock(timeout.toNanos(), TimeUnit.NANOSECONDS);
            if (!entered) {
                assertThat(Duration.ofNanos(System.nanoTime() - begin))
                        .as("time waited")
                        .isGreaterThanOrEqualTo(timeout);
            }
            return entered;
        };
    }
}
