package dev.interlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.testing.RedisServer;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;

/** Runs the contract on the lock over our own scripts, a second session contending. */
@DisplayName("DistributedReentrantLock")
class DistributedReentrantLockTest {
    private static final AtomicInteger NAMES = new AtomicInteger();

    @Nested
    class Plain extends LockContract {
        private final RedisServer redis = RedisServer.launch();
        private final Interlock mine = Interlock.connect(redis.url());
        private final Interlock other = Interlock.connect(redis.url());

        @Override
        protected ReentrantLock newLock() {
            return mine.lock("contract:" + NAMES.incrementAndGet());
        }

        @Override
        protected Optional<ReentrantLock> rivalOf(ReentrantLock lock) {
            return Optional.of(other.lock(((DistributedReentrantLock) lock).getName()));
        }

        @Override
        protected Set<Deviation> deviations() {
            return EnumSet.of(
                    Deviation.NO_CONDITIONS,
                    Deviation.NOT_SERIALIZABLE,
                    Deviation.TO_STRING_DIFFERS,
                    Deviation.REMOTE_WAITER_NOT_QUEUED);
        }

        @AfterEach
        void nothingIsLeft() {
            await("only marks and tokens are left, with a TTL")
                    .untilAsserted(() -> assertThat(redis.keys())
                            .allSatisfy(key -> assertThat(key).containsPattern(":(token|mark:.*)$")));
        }

        @AfterAll
        void close() {
            mine.close();
            other.close();
            redis.close();
        }
    }
}
