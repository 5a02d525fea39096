package dev.interlock.lifecycle;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.SessionId;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A lazy session opens without Redis and works when it is there. */
@Timely
class LazyTest {
    private static final Duration FIRST_LOCK = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final RedisServer server = RedisServer.launch();
    private final Actor actor = new Actor("waiter");

    @BeforeEach
    void kill() {
        server.kill();
    }

    @AfterEach
    void close() {
        actor.close();
        server.close();
    }

    private InterlockBuilder lazy() {
        return Interlock.builder().uri(server.url()).lazy();
    }

    @Test
    void theFirstLockAfterTheStartOfRedisWorksSoon() throws InterruptedException {
        long begun = Monotonic.nanos();
        try (Interlock session = lazy().open()) {
            assertWithin(Duration.ofSeconds(2), Duration.ofNanos(Monotonic.nanos() - begun));
            DistributedReentrantLock lock = session.lock("lazy");
            assertThatThrownBy(session::ping).isInstanceOf(RedisUnavailableException.class);
            server.restart();
            long started = Monotonic.nanos();
            assertThat(lock.tryLock(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertWithin(FIRST_LOCK, Duration.ofNanos(Monotonic.nanos() - started));
            assertThat(session.ping()).isPositive();
            lock.unlock();
        }
    }

    /** Redis is there, and no outage is told of. */
    @Test
    void aRedisThatIsThereIsUsed() {
        server.restart();
        try (Lines lines = new Lines();
                Interlock session = lazy().open()) {
            assertThat(session.lock("lazy").tryLock()).isTrue();
            session.lock("lazy").unlock();
            assertThat(lines.warnings(session)).isEmpty();
        }
    }

    /** A thread that waits meanwhile enters, and others can ask the session whether it uses what it has. */
    @Test
    void aThreadThatWaitsEnters() {
        try (Interlock session = lazy().open()) {
            DistributedReentrantLock lock = session.lock("lazy");
            CompletableFuture<Boolean> entered = actor.begin(lock::lock);
            server.restart();
            assertThat(entered).succeedsWithin(PATIENCE);
            assertThat(channels(session)).isEqualTo(1);
            actor.run(lock::unlock);
            try (Interlock other = Interlock.connect(server.url())) {
                assertThat(other.lock("lazy").tryLock()).isTrue();
                other.lock("lazy").unlock();
            }
        }
    }

    /** A client of the session's own connects once; but its mailbox opens again whenever Redis has been away. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theMailboxOpensAgainAfterAnOutage(boolean isLazy) {
        if (!isLazy) {
            server.restart();
        }
        try (Interlock session = isLazy ? lazy().open() : Interlock.connect(server.url())) {
            if (isLazy) {
                server.restart();
            }
            for (int i = 0; i < 2; i++) {
                awaitMailbox(session);
                server.kill();
                server.restart();
            }
            awaitMailbox(session);
        }
    }

    private void awaitMailbox(Interlock session) {
        Awaitility.await("the mailbox is open").atMost(PATIENCE).until(() -> channels(session) == 1);
    }

    private int channels(Interlock session) {
        return server.command("PUBSUB", "CHANNELS", "interlock:mailbox:" + session.id()) instanceof List<?> channels
                ? channels.size()
                : 0;
    }

    @Test
    void itIsAsDuringAnOutage() {
        try (Lines lines = new Lines();
                Interlock session = lazy().redisTimeout(Duration.ofSeconds(2))
                        .commandTimeout(Duration.ofSeconds(1))
                        .open()) {
            DistributedReentrantLock lock = session.lock("lazy");
            assertThatThrownBy(lock::tryLock).isInstanceOf(RedisUnavailableException.class);
            assertThatThrownBy(lock::lock).isInstanceOf(RedisUnavailableException.class);
            assertThatThrownBy(() -> session.semaphore("pool", 3)).isInstanceOf(RedisUnavailableException.class);
            assertThat(lock.isLocked()).isFalse();
            assertThat(lines.warnings(session)).singleElement().asString().contains("doesn't answer");
            server.restart();
            Awaitility.await("it is over")
                    .atMost(PATIENCE)
                    .until(() -> !lines.at(Level.INFO, "answers again").isEmpty());
            assertThat(session.semaphore("pool", 3).tryAcquire()).isTrue();
        }
    }

    @Test
    void itClosesWithoutRedis() {
        Interlock session = lazy().commandTimeout(Duration.ofSeconds(1)).open();
        session.close();
        Awaitility.await("no thread is left")
                .atMost(PATIENCE)
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().endsWith(SessionId.brief(session.id()))));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aClientOfTheUsersWorks(boolean hasConnected) throws InterruptedException {
        if (hasConnected) {
            server.restart();
        }
        Config config = new Config();
        config.setLazyInitialization(!hasConnected);
        config.useSingleServer().setAddress(server.url());
        RedissonClient client = Redisson.create(config);
        if (hasConnected) {
            server.kill();
        }
        try (Interlock session = Interlock.builder().client(client).lazy().open()) {
            server.restart();
            DistributedReentrantLock lock = session.lock("lazy");
            assertThat(lock.tryLock(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            lock.unlock();
        } finally {
            client.shutdown();
        }
    }
}
