package dev.interlock.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.Transport;
import dev.interlock.testing.RedisServer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.NettyHook;
import org.redisson.config.Config;
import org.redisson.config.Credentials;

/** Which connections a session uses, and what becomes of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TransportTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private RedisServer server;

    @BeforeAll
    void launch() {
        server = RedisServer.launch();
    }

    @AfterAll
    void shutDown() {
        server.close();
    }

    private Interlock direct() {
        return Interlock.builder().uri(server.url()).transport(Transport.DIRECT).open();
    }

    private static long readers(Interlock session) {
        String name = "interlock-redis-" + session.id().substring(10, 18);
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .count();
    }

    private static void use(Interlock session) {
        DistributedReentrantLock lock = session.lock("transport");
        lock.lock();
        lock.unlock();
    }

    private long clients() {
        return String.valueOf(server.command("CLIENT", "LIST")).lines().count();
    }

    /** One connection for commands and one for messages, which are gone with the session. */
    @Test
    void aSessionClosesItsOwnConnections() {
        long before = clients();
        Interlock session = direct();
        use(session);
        await().atMost(PATIENCE).until(() -> readers(session) == 2);
        session.close();
        await().atMost(PATIENCE).until(() -> readers(session) == 0 && clients() == before);
        assertThat(String.valueOf(server.command("PUBSUB", "CHANNELS"))).doesNotContain(session.id());
    }

    @Test
    void aSessionOfAUriHasConnectionsOfItsOwn() {
        try (Interlock session = Interlock.connect(server.url())) {
            use(session);
            await().atMost(PATIENCE).until(() -> readers(session) == 2);
        }
    }

    /** A plain {@code RLock} of the same name is what Redisson's connections are for. */
    @Test
    void theClientOfASessionConnectsWhenItIsNeeded() {
        Config config = new Config();
        config.useSingleServer().setAddress(server.url());
        RedissonClient plain = Redisson.create(config);
        try (Interlock session = Interlock.builder()
                .uri(server.url())
                .transport(Transport.DIRECT)
                .sessionName("needed")
                .open()) {
            RLock held = plain.getLock("needed");
            held.lock();
            DistributedReentrantLock lock = session.lock("needed");
            assertThat(lock.tryLock()).isFalse();
            await().atMost(PATIENCE).until(() -> clientsNamed("needed") == 2);
            CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> {
                lock.lock();
                lock.unlock();
            });
            await().atMost(PATIENCE).until(() -> clientsNamed("needed") > 2);
            held.unlock();
            assertThat(waiting).succeedsWithin(PATIENCE);
        } finally {
            plain.shutdown();
        }
    }

    /** Readers that wait in Redisson are called on Redisson's channel. */
    @Test
    void theClientOfASessionConnectsToCallReaders() {
        Config config = new Config();
        config.useSingleServer().setAddress(server.url());
        RedissonClient plain = Redisson.create(config);
        try (Interlock session = Interlock.builder()
                .uri(server.url())
                .transport(Transport.DIRECT)
                .sessionName("calling")
                .open()) {
            ReadWriteLock lock = session.adapt(plain.getReadWriteLock("calling"));
            lock.writeLock().lock();
            lock.readLock().lock();
            await().atMost(PATIENCE).until(() -> clientsNamed("calling") == 2);
            lock.writeLock().unlock();
            await().atMost(PATIENCE).until(() -> clientsNamed("calling") > 2);
            lock.readLock().unlock();
        } finally {
            plain.shutdown();
        }
    }

    private long clientsNamed(String name) {
        return String.valueOf(server.command("CLIENT", "LIST"))
                .lines()
                .filter(line -> line.contains(" name=" + name + " "))
                .count();
    }

    @Test
    void aSessionMayUseRedissonsConnections() {
        try (Interlock session = Interlock.builder()
                .uri(server.url())
                .transport(Transport.REDISSON)
                .open()) {
            use(session);
            assertThat(readers(session)).isZero();
        }
    }

    /** Threads of two sessions go on, and exclude each other, while their connections are killed again and again. */
    @Test
    void killedConnectionsAreReplaced() {
        AtomicBoolean isInside = new AtomicBoolean();
        AtomicInteger entries = new AtomicInteger();
        AtomicBoolean ended = new AtomicBoolean();
        try (Interlock one = direct();
                Interlock other = direct()) {
            List<CompletableFuture<Void>> threads = new ArrayList<>();
            for (Interlock session : List.of(one, one, other, other)) {
                threads.add(CompletableFuture.runAsync(() -> {
                    DistributedReentrantLock lock = session.lock("killed");
                    while (!ended.get()) {
                        lock.lock();
                        try {
                            assertThat(isInside.getAndSet(true)).isFalse();
                            entries.incrementAndGet();
                            isInside.set(false);
                        } finally {
                            lock.unlock();
                        }
                    }
                }));
            }
            for (int kills = 0; kills < 5; kills++) {
                int before = entries.get();
                server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
                server.command("CLIENT", "KILL", "TYPE", "pubsub");
                await().atMost(PATIENCE).until(() -> entries.get() > before + 100);
            }
            ended.set(true);
            threads.forEach(thread -> assertThat(thread).succeedsWithin(PATIENCE));
            await().atMost(PATIENCE).until(() -> readers(one) == 2 && readers(other) == 2);
        }
    }

    /** A connection is signed in by the credentials of its time. */
    @Test
    void credentialsAreAskedForAnew() {
        server.command("ACL", "SETUSER", "rotating", "on", ">first", "~*", "&*", "+@all");
        Config config = new Config();
        AtomicBoolean isRotated = new AtomicBoolean();
        config.setCredentialsResolver(address ->
                CompletableFuture.completedFuture(new Credentials("rotating", isRotated.get() ? "second" : "first")));
        config.useSingleServer().setAddress(server.url());
        RedissonClient client = Redisson.create(config);
        try (Interlock session =
                Interlock.builder().client(client).transport(Transport.DIRECT).open()) {
            use(session);
            server.command("ACL", "SETUSER", "rotating", "resetpass", ">second");
            isRotated.set(true);
            server.command("CLIENT", "KILL", "USER", "rotating");
            use(session);
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
            server.command("ACL", "DELUSER", "rotating");
        }
    }

    @Test
    void aClientThatAllowsForNoOtherConnectionsIsUsedItself() {
        Config config = new Config();
        config.setNettyHook(new NettyHook() {
            @Override
            public void afterBoostrapInitialization(Bootstrap bootstrap) {}

            @Override
            public void afterChannelInitialization(Channel channel) {}
        });
        config.useSingleServer().setAddress(server.url());
        RedissonClient client = Redisson.create(config);
        try (Lines lines = new Lines();
                Interlock session = Interlock.builder()
                        .client(client)
                        .transport(Transport.DIRECT)
                        .open()) {
            use(session);
            assertThat(readers(session)).isZero();
            assertThat(lines.at(Level.INFO, "uses the connections of its Redisson client"))
                    .singleElement()
                    .asString()
                    .contains(session.id(), "the client has a NettyHook");
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    @Test
    void thePropertyOfAnotherTransportIsRefused() {
        String before = System.getProperty("interlock.transport");
        System.setProperty("interlock.transport", "pigeon");
        try {
            InterlockBuilder builder = Interlock.builder().uri(server.url());
            assertThatIllegalArgumentException()
                    .isThrownBy(builder::open)
                    .withMessage("system property interlock.transport must be redisson or direct, but is 'pigeon'");
        } finally {
            if (before == null) {
                System.clearProperty("interlock.transport");
            } else {
                System.setProperty("interlock.transport", before);
            }
        }
    }
}
