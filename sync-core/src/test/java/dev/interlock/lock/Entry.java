package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.RedisUnavailableException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/** How a thread comes by a {@link Lock}. */
@FunctionalInterface
public interface Entry {
    int MAX_ATTEMPTS = 50;

    /** Returns whether it has got it. */
    boolean into(Lock lock) throws InterruptedException;

    /** An entry with a time-out, which it doesn't give up before. */
    static Entry within(Duration timeout) {
        return lock -> {
            long begin = System.nanoTime();
            boolean entered = isEntered(lock, timeout);
            if (!entered) {
                assertThat(Duration.ofNanos(System.nanoTime() - begin))
                        .as("time waited")
                        .isGreaterThanOrEqualTo(timeout);
            }
            return entered;
        };
    }

    private static boolean isEntered(Lock lock, Duration timeout) throws InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return lock.tryLock(timeout.toNanos(), TimeUnit.NANOSECONDS);
            } catch (RedisUnavailableException e) {
                // On a busy machine Redis doesn't answer within a short time.
                if (attempt == MAX_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }
}
