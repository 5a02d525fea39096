package dev.interlock.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.Transport;
import dev.interlock.internal.SessionId;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TestThreads;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
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
    private static final Duration LONG_PATIENCE = Duration.ofMinutes(3);

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
        String name = "interlock-redis-" + SessionId.brief(session.id());
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .count();
    }

    private static void use(Interlock session) {
        use(session.lock("transport"));
    }

    private static void use(DistributedReentrantLock lock) {
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
        return idsOf(name).size();
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

    /** Virtual threads never write themselves: an interrupt closes a socket on which one is blocked. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void interruptsOfVirtualThreadsCloseNoConnection() {
        try (Interlock session = Interlock.builder()
                        .uri(server.url())
                        .transport(Transport.DIRECT)
                        .sessionName("virtual")
                        .commandTimeout(Duration.ofSeconds(60))
                        .open();
                TestThreads threads = new TestThreads(PATIENCE)) {
            use(session);
            await().atMost(PATIENCE).until(() -> idsOf("virtual").size() == 2);
            Set<String> connections = idsOf("virtual");
            List<TestThreads.Running<Boolean>> running = new ArrayList<>();
            server.pause();
            try {
                for (int i = 0; i < 2_000; i++) {
                    DistributedReentrantLock lock = session.lock("of many bytes".repeat(50) + i);
                    running.add(threads.startVirtual(() -> use(lock)));
                }
                await().atMost(PATIENCE).until(() -> running.stream().allMatch(one -> isBlocked(one.thread())));
                running.forEach(one -> one.thread().interrupt());
            } finally {
                server.resume();
            }
            running.forEach(TestThreads.Running::result);
            assertThat(idsOf("virtual")).isEqualTo(connections);
        }
    }

    private static boolean isBlocked(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    private Set<String> idsOf(String name) {
        return String.valueOf(server.command("CLIENT", "LIST"))
                .lines()
                .filter(line -> line.contains(" name=" + name + " "))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .collect(Collectors.toSet());
    }

    /** Each holds a name of its own and has its turn at one that they share, by two connections. */
    @Test
    @Tag("proof")
    @Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aThousandSessionsShareAJvm() {
        List<Interlock> sessions = new ArrayList<>();
        AtomicInteger entries = new AtomicInteger();
        try (TestThreads threads = new TestThreads(LONG_PATIENCE)) {
            for (int i = 0; i < 1_000; i++) {
                sessions.add(direct());
                assertThat(sessions.get(i).lock("own-" + i).tryLock()).isTrue();
            }
            List<TestThreads.Running<Boolean>> waiting = sessions.stream()
                    .map(session -> threads.start("visitor", () -> {
                        DistributedReentrantLock shared = session.lock("shared");
                        shared.lock();
                        entries.set(entries.get() + 1);
                        shared.unlock();
                    }))
                    .toList();
            waiting.forEach(TestThreads.Running::result);
            assertThat(entries).hasValue(1_000);
            for (int i = 0; i < 1_000; i++) {
                sessions.get(i).lock("own-" + i).unlock();
            }
            assertThat(clients()).isBetween(2_000L, 2_100L);
        } finally {
            sessions.forEach(Interlock::close);
        }
        await().atMost(PATIENCE).until(() -> clients() < 100);
    }

    /** Threads of two sessions go on, and exclude each other, while their connections are killed again and again. */
    @Test
    void killedConnectionsAreReplaced() {
        AtomicBoolean isInside = new AtomicBoolean();
        AtomicInteger entries = new AtomicInteger();
        AtomicBoolean ended = new AtomicBoolean();
        try (Interlock one = direct();
                Interlock other = direct();
                TestThreads threads = new TestThreads(PATIENCE)) {
            List<TestThreads.Running<Boolean>> running = new ArrayList<>();
            for (Interlock session : List.of(one, one, other, other)) {
                running.add(threads.start("visitor", () -> {
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
            running.forEach(TestThreads.Running::result);
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
