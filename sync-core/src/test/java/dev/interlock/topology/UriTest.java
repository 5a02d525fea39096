package dev.interlock.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.tuple;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.RedisUnavailableException;
import dev.interlock.ops.NameView;
import dev.interlock.ops.NameView.Holder;
import dev.interlock.ops.NameView.State;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisCluster;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.SentinelSet;
import dev.interlock.testing.Topology;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sessions of a URI that names sentinels or nodes of a cluster, as a user of the servers' ACL. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UriTest {
    private static final String USER = "the:user";
    private static final String PASSWORD = "p@ss,w/rd";
    private static final String CREDENTIALS = "the%3Auser:p%40ss%2Cw%2Frd@";
    private static final String NAME = "stock";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static String uri(String scheme, String credentials, Topology servers) {
        return servers.urls().stream()
                .map(url -> url.substring("redis://".length()))
                .collect(Collectors.joining(",", scheme + "://" + credentials, ""));
    }

    private static void allowUser(RedisServer server) {
        server.command("ACL", "SETUSER", USER, "on", ">" + PASSWORD, "~*", "&*", "+@all");
    }

    private static boolean isUsedByUser(RedisServer server) {
        return String.valueOf(server.command("CLIENT", "LIST")).contains("user=" + USER + " ");
    }

    private static void assertShared(Topology servers, InterlockBuilder one, InterlockBuilder other) {
        try (Interlock ours = one.open();
                Interlock theirs = other.open()) {
            for (int i = 0; i < 10; i++) {
                DistributedReentrantLock lock = ours.lock(NAME + i);
                lock.lock();
                assertThat(theirs.lock(lock.getName()).tryLock()).isFalse();
                assertThat(servers.masterOf(lock.getName()).command("EXISTS", lock.getName()))
                        .isEqualTo(1L);
                assertThat(theirs.operator().inspect(lock.getName()))
                        .flatExtracting(NameView::holders)
                        .extracting(Holder::session, Holder::state)
                        .containsExactly(tuple(ours.id(), State.INSIDE));
                lock.unlock();
            }
            assertThat(servers.nodes()).allMatch(UriTest::isUsedByUser);
        }
    }

    @Test
    void aClusterIsFoundByItsNodes() {
        try (RedisCluster cluster = RedisCluster.launch()) {
            cluster.nodes().forEach(UriTest::allowUser);
            RedisServer first = cluster.nodes().get(0);
            assertShared(
                    cluster,
                    Interlock.builder().uri(uri("redis-cluster", CREDENTIALS, cluster)),
                    Interlock.builder()
                            .uri("redis-cluster://" + first.host() + ":" + first.port())
                            .credentials(USER, PASSWORD));
        }
    }

    @Test
    @Tag("proof")
    void aMasterIsFoundBySentinels() {
        try (SentinelSet set = SentinelSet.launch()) {
            set.nodes().forEach(UriTest::allowUser);
            String master = "/" + SentinelSet.MASTER;
            String first = set.urls().get(0).substring("redis://".length());
            assertShared(
                    set,
                    Interlock.builder().uri(uri("redis-sentinel", CREDENTIALS, set) + master),
                    Interlock.builder()
                            .uri("redis-sentinel://" + first + master)
                            .credentials(USER, PASSWORD));
        }
    }

    /** A server is no sentinel and no node of a cluster, and sentinels know one master. */
    @Test
    @Tag("proof")
    void theWrongPlaceIsTold() {
        try (RedisServer server = RedisServer.launch();
                SentinelSet set = SentinelSet.launch()) {
            String address = server.host() + ":" + server.port();
            assertRefused(uri("redis-sentinel", CREDENTIALS, set) + "/another", "Master node is undefined");
            assertRefused("redis-sentinel://" + address + "/main", "unknown command");
            assertRefused("redis-cluster://" + address, "This instance has cluster support disabled");
        }
    }

    private static void assertRefused(String uri, String why) {
        assertThat(catchThrowable(() -> Interlock.connect(uri)))
                .isInstanceOf(RedisUnavailableException.class)
                .hasMessageStartingWith("Redis at uri '" + uri.replace(CREDENTIALS, "…@") + "' ")
                .hasMessageContaining(why);
    }

    @Test
    @Tag("proof")
    void aSessionOfAClusterSurvivesAFailover() {
        assertSurvival(RedisCluster::launch, "redis-cluster", "");
    }

    @Test
    @Tag("proof")
    void aSessionBehindSentinelsSurvivesAFailover() {
        assertSurvival(SentinelSet::launch, "redis-sentinel", "/" + SentinelSet.MASTER);
    }

    /** What is held is kept and renewed, and is handed over by a message afterwards. */
    private static void assertSurvival(Supplier<? extends Topology> launch, String scheme, String path) {
        try (Topology servers = launch.get();
                Interlock ours = Interlock.connect(uri(scheme, "", servers) + path);
                Interlock theirs = Interlock.connect(uri(scheme, "", servers) + path);
                Actor holder = new Actor("holder");
                Actor waiter = new Actor("waiter")) {
            DistributedReentrantLock lock = ours.lock(NAME);
            holder.run(lock::lock);
            RedisServer master = servers.masterOf(NAME);
            servers.kill(master);
            var entered = waiter.begin(theirs.lock(NAME)::lock);
            Awaitility.await("failover").atMost(PATIENCE).ignoreExceptions().until(() -> {
                RedisServer next = servers.masterOf(NAME);
                return next != master && String.valueOf(next.command("ROLE")).startsWith("[master");
            });
            holder.run(lock::assertHeld);
            assertThat(entered).isNotDone();
            holder.run(lock::unlock);
            assertThat(entered).succeedsWithin(PATIENCE);
            waiter.run(theirs.lock(NAME)::unlock);
        }
    }
}
