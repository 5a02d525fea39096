package dev.interlock.readwrite.adapted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TestThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * One Redis; and for each test a lock, adapted by two sessions with a client each, and a plain user of it with a third.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class AdaptedFixture {
    static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Longer than any operation takes. */
    static final Duration SHORT = Duration.ofMillis(100);

    final RedisServer redis = RedisServer.launch();
    private final List<RedissonClient> clients =
            Stream.generate(this::client).limit(3).toList();

    String name;
    Interlock mine;
    Interlock other;
    DistributedReadWriteLock lock;
    DistributedReadWriteLock rival;
    RReadWriteLock plain;
    TestThreads threads;

    private RedissonClient client() {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.url());
        return Redisson.create(config);
    }

    Duration slice() {
        return Duration.ofMillis(10);
    }

    @BeforeAll
    void connect() {
        mine = session(clients.get(0));
        other = session(clients.get(1));
    }

    Interlock session(RedissonClient client) {
        return Interlock.builder()
                .client(client)
                .handoffSlice(slice())
                .lease(Duration.ofSeconds(3))
                .open();
    }

    final RedissonClient myClient() {
        return clients.get(0);
    }

    private static int names;

    @BeforeEach
    void begin() {
        name = getClass().getSimpleName() + ++names;
        lock = mine.adapt(clients.get(0).getReadWriteLock(name));
        rival = other.adapt(clients.get(1).getReadWriteLock(name));
        plain = clients.get(2).getReadWriteLock(name);
        threads = new TestThreads(PATIENCE);
    }

    /** Nor does any test leave anything behind. */
    @AfterEach
    void end() {
        threads.close();
        await("nothing is left").untilAsserted(() -> assertThat(redis.keys()).isEmpty());
    }

    @AfterAll
    void disconnect() {
        mine.close();
        other.close();
        clients.forEach(RedissonClient::shutdown);
        redis.close();
    }

    static ConditionFactory await(String what) {
        return Awaitility.await(what)
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(2))
                .pollInSameThread();
    }

    /** Asserts that it is to be had, soon. */
    static void assertFree(Lock view) {
        await("free").until(view::tryLock);
        view.unlock();
    }

    static void assertTaken(Lock view) {
        assertThat(view.tryLock()).isFalse();
    }
}
