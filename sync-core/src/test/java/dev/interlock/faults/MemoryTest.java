package dev.interlock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.testing.Info;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** A Redis that evicts keys takes names away from those who hold them, who are told; and a session warns of it. */
class MemoryTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(15);
    private static final int NAMES = 10_000;
    private static final int EVICTED = 1_000;

    /** Keeps what is logged as a warning. */
    private static final class Warnings extends AppenderBase<ILoggingEvent> {
        private final Queue<String> messages = new ConcurrentLinkedQueue<>();

        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                messages.add(event.getFormattedMessage());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "allkeys-lru, 100000000, 1",
        "volatile-ttl, 100000000, 1",
        "noeviction, 100000000, 0",
        "allkeys-lru, 0, 0"
    })
    void aRedisThatMayEvictIsWarnedOfOnce(String policy, String bytes, int warnings) {
        Logger logger = (Logger) LoggerFactory.getLogger("dev.interlock.internal.session.EvictionWarning");
        Warnings written = new Warnings();
        written.start();
        logger.addAppender(written);
        try (RedisServer server = RedisServer.launch("--maxmemory", bytes, "--maxmemory-policy", policy)) {
            for (int i = 0; i < 2; i++) {
                try (Interlock session = Interlock.connect(server.url())) {
                    // Its answer comes after that of the look at the memory.
                    assertThat(session.ping()).isPositive();
                }
            }
            await("a warning").atMost(PATIENCE).until(() -> written.messages.size() >= warnings);
            assertThat(written.messages)
                    .hasSize(warnings)
                    .allMatch(message -> message.contains("maxmemory-policy " + policy + ")"));
        } finally {
            logger.detachAppender(written);
        }
    }

    @Test
    @Tag("proof")
    void whatIsEvictedIsReportedAndNothingElseIsLost() {
        Set<String> lost = ConcurrentHashMap.newKeySet();
        try (RedisServer server = RedisServer.launch("--maxmemory-policy", "allkeys-random");
                Interlock session = Interlock.builder()
                        .uri(server.url())
                        .lease(LEASE)
                        .listener(new SyncListener() {
                            @Override
                            public void lost(LeaseLostException loss) {
                                lost.add(loss.lockName());
                            }
                        })
                        .open();
                Interlock other = Interlock.connect(server.url())) {
            List<DistributedReentrantLock> locks = IntStream.range(0, NAMES)
                    .mapToObj(i -> session.lock("name-" + i))
                    .toList();
            locks.forEach(DistributedReentrantLock::lock);
            evict(server);
            Set<String> left = server.keys("name-*");
            Set<String> gone = locks.stream()
                    .map(DistributedReentrantLock::getName)
                    .filter(name -> !left.contains(name))
                    .collect(Collectors.toSet());
            assertThat(gone).hasSizeGreaterThan(100);
            await("losses").atMost(PATIENCE).until(() -> lost.containsAll(gone));
            locks.forEach(lock -> assertLost(lock, other.lock(lock.getName()), gone.contains(lock.getName())));
            assertThat(lost).isEqualTo(gone);
            left.forEach(name -> session.lock(name).unlock());
            gone.forEach(name -> other.lock(name).unlock());
        }
    }

    private static void assertLost(DistributedReentrantLock lock, DistributedReentrantLock rival, boolean isLost) {
        if (isLost) {
            assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        } else {
            lock.assertHeld();
        }
        assertThat(rival.tryLock()).as(lock.getName()).isEqualTo(isLost);
    }

    private static void evict(RedisServer server) {
        String used = Info.field(String.valueOf(server.command("INFO", "memory")), "used_memory");
        server.command("CONFIG", "SET", "maxmemory", String.valueOf(Long.parseLong(used) * 9 / 10));
        await("evictions").atMost(PATIENCE).until(() -> {
            String stats = String.valueOf(server.command("INFO", "stats"));
            return Long.parseLong(Info.field(stats, "evicted_keys")) >= EVICTED;
        });
        server.command("CONFIG", "SET", "maxmemory", "0");
    }
}
