package dev.interlock.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.QuorumInterlock;
import dev.interlock.Transport;
import dev.interlock.ops.Operator;
import dev.interlock.ops.SessionView;
import dev.interlock.spring.boot.InterlockAutoConfiguration;
import dev.interlock.spring.boot.InterlockEndpoint;
import dev.interlock.spring.boot.InterlockIntegrationsAutoConfiguration;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.RespConnection;
import dev.interlock.testing.RespError;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The rights that {@code docs/security.md} lists are enough, and none of them is too many. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AclTest {
    /** How often a tour is repeated that was late. */
    private static final int TOURS = 3;

    private RedisServer server;
    private RedissonClient admin;
    private Rights rights;

    @BeforeAll
    void launch() {
        rights = Rights.under("Rights");
        server = RedisServer.launch();
        admin = client(server.url());
    }

    @AfterAll
    void shutDown() {
        admin.shutdown(0, 2, TimeUnit.SECONDS);
        server.close();
    }

    @BeforeEach
    void forget() {
        forget(server);
    }

    private static void forget(RedisServer server) {
        server.command("ACL", "DELUSER", Rights.USER);
        server.command("FLUSHALL");
        server.command("SCRIPT", "FLUSH");
        server.command("ACL", "LOG", "RESET");
        server.command("CONFIG", "RESETSTAT");
    }

    private static RedissonClient client(String url) {
        return Redisson.create(config(url));
    }

    private static Config config(String url) {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.useSingleServer()
                .setAddress(url)
                // Redisson closes a connection whose ping has no answer by the next one.
                .setPingConnectionInterval(1_000)
                .setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(12);
        return config;
    }

    @Test
    void documentedRightsAreEnoughForAllSynchronizers() {
        rights.giveAt(server);
        tour();
        assertThat(Rights.refusedAt(server)).isEmpty();
        assertThat(rights.commands())
                .as("all of them are needed: they have been used")
                .allSatisfy(command ->
                        assertThat(server.commandCalls(command)).as(command).isPositive());
    }

    /** With what Redisson asks for at its start there is no refusal at all. */
    @Test
    void thatRedissonsProbeIsRefusedCanBeAvoided() {
        rights.giveAt(server);
        Interlock.builder()
                .uri(Rights.urlOf(server))
                .transport(Transport.REDISSON)
                .open()
                .close();
        assertThat(Rights.loggedAt(server)).hasSize(1);
        server.command("ACL", "LOG", "RESET");
        Rights.under("An empty log").giveAt(server);
        tour();
        assertThat(Rights.loggedAt(server)).isEmpty();
    }

    /** An operator needs to know which sessions there are. */
    @Test
    void anOperatorNeedsOneRightMore() {
        rights.giveAt(server);
        try (Interlock application = Interlock.connect(Rights.urlOf(server))) {
            Operator operator = application.operator();
            assertThatThrownBy(operator::sessions)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("Redis refuses to answer an operator's question: ");
            server.command("ACL", "LOG", "RESET");
            Rights.under("An operator").giveAt(server);
            assertThat(operator.sessions()).extracting(SessionView::id).containsExactly(application.id());
            assertThat(operator.find("*")).isEmpty();
            assertThat(operator.inspect("app:name")).isEmpty();
            assertThat(Rights.refusedAt(server)).isEmpty();
        }
    }

    /** So does Actuator's endpoint, of which the page about Spring tells. */
    @Test
    void theEndpointOfAnApplicationNeedsThatRightToo() throws IOException {
        rights.giveAt(server);
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        InterlockAutoConfiguration.class, InterlockIntegrationsAutoConfiguration.class))
                .withPropertyValues(
                        "interlock.uri=" + Rights.urlOf(server),
                        "interlock.namespace=app",
                        "management.endpoints.web.exposure.include=interlock")
                .run(context -> {
                    InterlockEndpoint endpoint = context.getBean(InterlockEndpoint.class);
                    assertThatThrownBy(() -> endpoint.fleet(null))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageStartingWith("Redis refuses to answer an operator's question: ");
                    Rights.under("An operator").giveAt(server);
                    assertThat(endpoint.fleet(null).sessions()).hasSize(1);
                    assertThat(endpoint.name("free")).isNull();
                });
        assertThat(Rights.under("An operator").given())
                .allSatisfy(right -> assertThat(Files.readString(Path.of("..", "docs", "spring.md")))
                        .contains(right));
    }

    private void tour() {
        String url = Rights.urlOf(server);
        RedissonClient client = client(url);
        try (Tour tour = new Tour(server, one -> one.client(client), other -> other.uri(url))) {
            tour.all(admin);
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    /** A right that is taken away is missed by somebody, whichever it is. */
    @Test
    @Tag("proof")
    @Timeout(value = 1_800, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void eachRightIsNeeded() {
        List<String> needless = new ArrayList<>();
        for (String right : rights.given()) {
            if (!isMissed(right)) {
                needless.add(right);
            }
        }
        assertThat(needless).isEmpty();
    }

    /**
     * Returns whether somebody is refused for that. A tour that fails without any refusal was late, and is repeated.
     */
    private boolean isMissed(String right) {
        AssertionError late = new AssertionError(right);
        for (int i = 0; i < TOURS; i++) {
            forget(server);
            rights.without(right).giveAt(server);
            try {
                tour();
                return !Rights.refusedAt(server).isEmpty();
            } catch (RuntimeException | AssertionError e) {
                if (!Rights.refusedAt(server).isEmpty()) {
                    return true;
                }
                late.addSuppressed(e);
            }
        }
        throw late;
    }

    @Test
    void nothingElseIsAllowed() throws IOException {
        rights.giveAt(server);
        server.command("SET", "theirs", "x");
        try (RespConnection connection =
                RespConnection.open(URI.create(Rights.urlOf(server)), Duration.ofSeconds(10))) {
            Stream.of(
                            "GET theirs",
                            "SET theirs y",
                            "KEYS *",
                            "FLUSHALL",
                            "CONFIG GET requirepass",
                            "ACL LIST",
                            "CLIENT LIST",
                            "SCRIPT FLUSH",
                            "PUBLISH theirs x",
                            "PUBSUB CHANNELS",
                            "SUBSCRIBE theirs")
                    .forEach(command -> assertThatThrownBy(() -> connection.call(command.split(" ")))
                            .as(command)
                            .isInstanceOf(RespError.class)
                            .hasMessageContaining("NOPERM"));
        }
    }

    /** A user that lacks a right is told at once which one, and holds nothing. */
    @Test
    void aMissingRightIsAClearError() {
        rights.without("+hset").giveAt(server);
        try (Interlock session = Interlock.connect(Rights.urlOf(server))) {
            DistributedReentrantLock lock = session.lock("app:refused");
            assertThatThrownBy(lock::lock)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("app:refused")
                    .hasStackTraceContaining("can't run this command");
            assertThat(lock.isLocked()).isFalse();
        }
        assertThat(server.keys("app:*")).isEmpty();
    }

    /** A name outside the patterns is refused, too. */
    @Test
    void aNameThatIsNotOnesOwnIsRefused() {
        rights.giveAt(server);
        try (Interlock session = Interlock.connect(Rights.urlOf(server))) {
            DistributedReentrantLock lock = session.lock("theirs");
            assertThatThrownBy(lock::lock)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("theirs");
            assertThat(lock.isLocked()).isFalse();
        }
    }

    @Test
    void documentedRightsAreEnoughForQuorums() {
        List<RedisServer> servers = List.of(server, RedisServer.launch(), RedisServer.launch());
        List<RedissonClient> clients = new ArrayList<>();
        try {
            servers.forEach(rights::giveAt);
            servers.forEach(each -> clients.add(client(Rights.urlOf(each))));
            try (QuorumInterlock one = Interlock.quorum(clients);
                    QuorumInterlock other = Interlock.quorum(clients)) {
                for (int i = 0; i < 3; i++) {
                    DistributedReentrantLock lock = one.lock("app:quorum");
                    lock.lock();
                    assertThat(other.lock("app:quorum").tryLock()).isFalse();
                    lock.unlock();
                    other.lock("app:quorum").lock();
                    other.lock("app:quorum").unlock();
                }
            }
            assertThat(servers)
                    .allSatisfy(each -> assertThat(Rights.refusedAt(each)).isEmpty());
        } finally {
            clients.forEach(each -> each.shutdown(0, 2, TimeUnit.SECONDS));
            servers.subList(1, 3).forEach(RedisServer::close);
        }
    }

    /** Adapted objects, and plain locks of the same user, need what Redisson uses. */
    @Test
    void documentedRightsAreEnoughForRedissonsObjects() {
        Rights more = Rights.under("Redisson's objects");
        rights.giveAt(server);
        more.giveAt(server);
        RedissonClient one = client(Rights.urlOf(server));
        RedissonClient other = client(Rights.urlOf(server));
        try (Tour tour = new Tour(server, first -> first.client(one), second -> second.client(other))) {
            tour.adapted(one, other);
            tour.besidePlainLocks(one);
        } finally {
            one.shutdown(0, 2, TimeUnit.SECONDS);
            other.shutdown(0, 2, TimeUnit.SECONDS);
        }
        assertThat(Rights.refusedAt(server)).isEmpty();
        assertThat(more.commands())
                .allSatisfy(command ->
                        assertThat(server.commandCalls(command)).as(command).isPositive());
    }
}
