package dev.interlock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.QuorumInterlock;
import dev.interlock.Transport;
import dev.interlock.testing.RedisCluster;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.SentinelSet;
import dev.interlock.testing.Topology;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The code of the README and of the guide that opens sessions by itself, over a server, sentinels, a cluster. */
class GuideConnectionsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final PrintStream console = System.out;
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @BeforeEach
    void takeTheConsole() {
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void giveTheConsoleBack() {
        System.setOut(console);
    }

    private static void assertLocks(Interlock interlock) throws InterruptedException {
        DistributedReentrantLock lock = interlock.lock("guide");
        assertThat(lock.tryLock(PATIENCE)).isTrue();
        assertThat(lock.fencingToken()).isPositive();
        lock.unlock();
    }

    @Test
    void firstLock() {
        String uri = RedisServer.provided().url();
        // tag::first-lock[]
        try (Interlock interlock = Interlock.connect(uri)) { // such as "redis://127.0.0.1:6379"
            DistributedReentrantLock lock = interlock.lock("stock:4711"); // a java.util.concurrent ReentrantLock
            lock.lock();
            try {
                long token = lock.fencingToken(); // larger at every acquisition, in any JVM
                System.out.println("One thread of all JVMs is here, and its token is " + token);
            } finally {
                lock.unlock();
            }
        }
        // end::first-lock[]
        assertThat(printed.toString(StandardCharsets.UTF_8)).containsPattern("its token is [0-9]+");
    }

    @Test
    void fromReentrantLock() {
        try (Interlock interlock = Interlock.connect(RedisServer.provided().url())) {
            // tag::from-reentrant-lock[]
            ReentrantLock lock = interlock.lock("reports"); // was: new ReentrantLock()
            // end::from-reentrant-lock[]
            lock.lock();
            assertThat(lock.getHoldCount()).isEqualTo(1);
            lock.unlock();
        }
    }

    @Test
    void fromRLock() throws InterruptedException {
        RedissonClient redisson = client(RedisServer.provided().url());
        try {
            // tag::from-rlock[]
            Interlock interlock = Interlock.using(redisson);
            ReentrantLock lock = interlock.lock("invoices"); // was: redisson.getLock("invoices")
            // end::from-rlock[]
            RLock neighbour = redisson.getLock("invoices");
            lock.lock();
            assertThat(neighbour.tryLock()).isFalse();
            lock.unlock();
            assertThat(neighbour.tryLock(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            neighbour.unlock();
            interlock.close();
        } finally {
            redisson.shutdown();
        }
    }

    @Test
    void settings() throws InterruptedException {
        String address = RedisServer.provided().url();
        // tag::settings[]
        Config config = new Config();
        config.useSingleServer().setAddress(address).setConnectionPoolSize(16).setConnectionMinimumIdleSize(4);
        RedissonClient redisson = Redisson.create(config);
        Interlock interlock = Interlock.builder()
                .client(redisson) // or .uri("redis://…") for a client of the session's own
                .lease(Duration.ofSeconds(30)) // how long a name stays locked after its JVM has died
                .handoffSlice(Duration.ofMillis(10)) // a turn of this JVM while other JVMs wait
                .redisTimeout(Duration.ofSeconds(30)) // how long lock() waits during an outage
                .commandTimeout(Duration.ofSeconds(3)) // how long the answer to a command may take
                .transport(Transport.DIRECT) // by connections of the session's own
                .sessionName("orders-1") // in logs and in what an operator sees
                .open();
        // end::settings[]
        assertThat(interlock.sessionName()).isEqualTo("orders-1");
        assertLocks(interlock);
        interlock.close();
        redisson.shutdown();
    }

    @Test
    void cluster() throws InterruptedException {
        try (RedisCluster cluster = RedisCluster.launch()) {
            String nodes = hosts(cluster);
            // tag::cluster[]
            Interlock interlock = Interlock.connect("redis-cluster://" + nodes); // such as 10.0.0.1,10.0.0.2,10.0.0.3
            // end::cluster[]
            assertLocks(interlock);
            interlock.close();
        }
    }

    @Test
    void sentinels() throws InterruptedException {
        try (SentinelSet set = SentinelSet.launch()) {
            String sentinels = hosts(set);
            // tag::sentinels[]
            Interlock interlock = Interlock.builder()
                    .uri("redis-sentinel://" + sentinels + "/main") // main: the sentinels' name of the master
                    .replicaAcknowledgements(1) // how many replicas have to know an acquisition before it counts
                    .open();
            // end::sentinels[]
            assertLocks(interlock);
            interlock.close();
        }
    }

    @Test
    void quorum() {
        try (RedisServer a = RedisServer.launch();
                RedisServer b = RedisServer.launch();
                RedisServer c = RedisServer.launch()) {
            List<RedissonClient> clients = List.of(client(a.url()), client(b.url()), client(c.url()));
            // tag::quorum[]
            try (QuorumInterlock quorum = Interlock.quorum(clients)) { // one client for each server
                DistributedReentrantLock lock = quorum.lock("ledger");
                lock.lock();
                try {
                    System.out.println("A majority of the servers agrees, token " + lock.fencingToken());
                } finally {
                    lock.unlock();
                }
            }
            // end::quorum[]
            assertThat(printed.toString(StandardCharsets.UTF_8)).containsPattern("agrees, token [0-9]+");
            clients.forEach(RedissonClient::shutdown);
        }
    }

    private static String hosts(Topology topology) {
        return topology.urls().stream()
                .map(url -> url.replaceFirst("^redis://", ""))
                .collect(Collectors.joining(","));
    }

    private static RedissonClient client(String address) {
        Config config = new Config();
        config.useSingleServer().setAddress(address).setConnectionPoolSize(16).setConnectionMinimumIdleSize(2);
        return Redisson.create(config);
    }
}
