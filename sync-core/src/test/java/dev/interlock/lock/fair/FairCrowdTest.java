package dev.interlock.lock.fair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Crew;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Thousands of threads of two sessions wait for one fair lock, with a ticket each. */
@Tag("proof")
@Timely
class FairCrowdTest {

    private static final int WAITERS = 2_000;
    private static final Duration QUEUEING = Duration.ofSeconds(60);
    private static final Duration ENTERING = Duration.ofSeconds(60);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /** Counts entries, and asserts that each is the only one at its time and has a greater token than those before. */
    private static final class Entries {
        private final AtomicInteger inside = new AtomicInteger();
        private long token;
        private long count;

        void enter(DistributedReentrantLock lock) {
            lock.lock();
            try {
                assertThat(inside.incrementAndGet()).isEqualTo(1);
                assertThat(lock.fencingToken()).isGreaterThan(token);
                token = lock.fencingToken();
                count++;
                inside.decrementAndGet();
            } finally {
                lock.unlock();
            }
        }
    }

    @Test
    void allEnter() {
        String name = rig.name("fair-crowd");
        try (Interlock holder = Interlock.connect(rig.url());
                Interlock left = Interlock.connect(rig.url());
                Interlock right = Interlock.connect(rig.url())) {
            List<DistributedReentrantLock> locks = List.of(left.fairLock(name), right.fairLock(name));
            DistributedReentrantLock held = holder.fairLock(name);
            var entries = new Entries();
            var crew = new Crew();
            long start = System.nanoTime();
            held.lock();
            try {
                for (int i = 0; i < 2 * WAITERS; i++) {
                    DistributedReentrantLock lock = locks.get(i % 2);
                    crew.start(() -> entries.enter(lock));
                }
                await("a ticket for everybody")
                        .atMost(QUEUEING)
                        .until(() -> rig.keyspace().waiting(name) == 2 * WAITERS);
            } finally {
                held.unlock();
            }
            long queued = System.nanoTime();
            crew.join(ENTERING);
            rig.report(String.format(
                    "%d threads queued in %d ms, entered in %d ms",
                    2 * WAITERS, (queued - start) / 1_000_000, (System.nanoTime() - queued) / 1_000_000));
            assertThat(entries.count).isEqualTo(2 * WAITERS);
        }
    }
}
