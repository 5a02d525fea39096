package dev.interlock.input;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.google.common.base.Throwables;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Crew;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;
import org.redisson.config.NameMapper;

/** Bad addresses, clients and servers get a clear error in bounded time, which tells no password; no thread is left. */
@Timely
class ConnectionInputTest {

    private static final String SECRET = "s3cr3t";
    private static final String PASSWORD = "p@ss:w/rd %";
    private static final String ENCODED_PASSWORD = "p%40ss%3Aw%2Frd%20%25";
    private static final Duration BOUND = Duration.ofSeconds(30);

    private final SessionThreads threads = new SessionThreads();

    /** Neither the message nor the stack trace tells the password. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "redis",
                "redis:",
                "redis://",
                "redis:///",
                "redis://:6379",
                "redis://host:",
                "redis://host:0",
                "redis://host:-1",
                "redis://host:65536",
                "redis://host:99999999999",
                "redis://host:port",
                "redis://ho st:6379",
                " redis://host:6379",
                "redis://host:6379 ",
                "redis://host:6379/x",
                "redis://host:6379/-1",
                "redis://host:6379/1/2",
                "redis://host:6379/99999999999",
                "redis://host:6379,host:6380",
                "redis://[::1:6379",
                "redis://host:6379?database=1",
                "redis://host:6379#1",
                "redis//host:6379",
                "redis:/host:6379",
                "redis:host:6379",
                "http://host:6379",
                "jdbc:redis://host:6379",
                "host",
                "host:6379",
                "127.0.0.1:6379",
                "://host:6379",
                "{host}:6379",
                "%",
                "\0",
                "ü://host:6379",
                "redis://user:s3cr3t@host:",
                "redis://:s3cr3t@host:x",
                "redis://s3cr3t@host,other",
                "redis-sentinel://user:s3cr3t@host,other",
                "redis-sentinel://user:s3cr3t/@host,other/main",
                "redis-cluster://user:s3cr3t,@host:6379,other:0",
                "redis-cluster://user:s3cr3t@host,other/1",
                "redis-socket://user:s3cr3t@/run/redis.sock",
                "redis://:s3cr3t@:6379",
                "redis://user:s3cr3t@host:6379/x",
                "redis://user:s3cr3t@host:0",
                "redis://user:s3cr3t with blanks@host:6379",
                "redis://user:s3cr3t%@host:6379",
                "redis://user:s3cr3t^@host:6379",
                "redis://user:s3cr3t@@host:6379",
                "redis://user:s3cr3t/@host:6379",
                "redis://user:s3cr3t?@host:6379",
                "redis://user:s3cr3t#@host:6379",
                "redis://user:s3cr3t\n@host:6379",
                "redis://user:\ns3cr3t@host:6379",
                "redis:user:s3cr3t@host:6379",
                "redis:/user:s3cr3t@host:6379",
                "redis//user:s3cr3t@host:6379",
                "user:s3cr3t@host:6379",
                "http://user:s3cr3t@host:6379",
                "redis://host:6379?password=s3cr3t"
            })
    void badUriIsRefusedAndItsPasswordKept(String uri) {
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> Interlock.connect(uri), () -> Interlock.builder().uri(uri))) {
            Throwable refusal = catchThrowable(call);
            assertThat(refusal)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("uri", "redis://[user:password@]host[:port][/database]");
            assertThat(Throwables.getStackTraceAsString(refusal)).doesNotContain(SECRET);
        }
        threads.assertGone();
    }

    @Test
    void clientThatMapsNamesIsRefused() {
        var config = config(RedisServer.provided().url());
        config.setNameMapper(new NameMapper() {
            @Override
            public String map(String name) {
                return "mapped:" + name;
            }

            @Override
            public String unmap(String name) {
                return name.substring("mapped:".length());
            }
        });
        RedissonClient client = Redisson.create(config);
        try {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Interlock.using(client))
                    .withMessageContaining("client");
            threads.assertGone("interlock-");
            assertThat(client.isShutdown()).isFalse();
        } finally {
            client.shutdown();
        }
        threads.assertGone();
    }

    /** A client that was shut down can't carry a session. */
    @Test
    void clientThatIsShutDownIsRefused() {
        RedissonClient client = client(RedisServer.provided().url());
        client.shutdown();
        assertTimeoutPreemptively(
                BOUND,
                () -> assertThat(catchThrowable(() -> Interlock.using(client)))
                        .isInstanceOfAny(RedisUnavailableException.class, IllegalArgumentException.class));
        threads.assertGone();
    }

    /**
     * Nobody listens; somebody accepts the connection and never says a word; there is no such host; the password is
     * missing or wrong; there is no such database. All side by side, since each takes its time.
     */
    @Test
    @Tag("proof")
    void redisThatCannotBeUsedIsUnavailable() throws IOException {
        RedisServer gone = RedisServer.launch();
        try (gone;
                RedisServer strict = RedisServer.launch();
                var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            gone.kill();
            strict.command("CONFIG", "SET", "requirepass", PASSWORD);
            String address = strict.host() + ":" + strict.port();
            var crew = new Crew();
            Stream.of(
                            "redis://user:" + SECRET + "@" + gone.host() + ":" + gone.port(),
                            "redis://:" + SECRET + "@127.0.0.1:" + silent.getLocalPort(),
                            "redis://:" + SECRET + "@no-such-host.invalid:6379",
                            "redis://" + address,
                            "redis://:" + SECRET + "@" + address,
                            "redis://nobody:" + SECRET + "@" + address,
                            "redis://:" + ENCODED_PASSWORD + "@" + address + "/99")
                    .forEach(uri -> crew.start(() -> assertUnavailable(uri)));
            crew.join(BOUND.multipliedBy(2));
        }
        threads.assertGone();
    }

    private static void assertUnavailable(String uri) {
        long start = System.nanoTime();
        Throwable failure = catchThrowable(() -> Interlock.connect(uri));
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        assertThat(failure)
                .as(uri)
                .isInstanceOf(RedisUnavailableException.class)
                .hasMessageContaining("uri")
                .hasMessageContaining(uri.substring(uri.indexOf('@') + 1));
        assertThat(Throwables.getStackTraceAsString(failure))
                .doesNotContain(SECRET)
                .doesNotContain(PASSWORD)
                .doesNotContain(ENCODED_PASSWORD);
        assertWithin(uri, BOUND, took);
    }

    /** Credentials and database are understood, with all that a password may contain. */
    @ParameterizedTest
    @ValueSource(strings = {"", "default"})
    void credentialsAndDatabaseAreUsed(String user) {
        try (RedisServer server = RedisServer.launch()) {
            server.command("CONFIG", "SET", "requirepass", PASSWORD);
            String uri = "redis://" + user + ":" + ENCODED_PASSWORD + "@" + server.host() + ":" + server.port();
            try (Interlock first = Interlock.connect(uri);
                    Interlock second = Interlock.connect(uri + "/1");
                    Interlock third = Interlock.connect(uri + "/1")) {
                assertThat(first.lock("lock").tryLock()).isTrue();
                assertThat(second.lock("lock").tryLock()).isTrue();
                assertThat(third.lock("lock").tryLock()).isFalse();
                second.lock("lock").unlock();
                first.lock("lock").unlock();
            }
        }
        threads.assertGone();
    }

    /** The user's own client is there, but its server is gone. */
    @Test
    @Tag("proof")
    void serverOfTheClientIsGone() {
        RedisServer server = RedisServer.launch();
        RedissonClient client = client(server.url());
        try (server) {
            server.kill();
            assertUnreachable(client);
            threads.assertGone("interlock-");
        } finally {
            client.shutdown();
        }
        threads.assertGone();
    }

    /** A client that connects when it is first used does so when the session is opened, on the thread that opens it. */
    @Test
    void serverOfALazyClientIsGone() {
        RedisServer server = RedisServer.launch();
        RedissonClient client = lazyClient(server.url());
        try (server) {
            server.kill();
            assertUnreachable(client).hasCauseInstanceOf(RedisException.class);
            server.restart();
            try (Interlock interlock = Interlock.using(client)) {
                assertThat(interlock.lock("lazy").tryLock()).isTrue();
                interlock.lock("lazy").unlock();
            }
        } finally {
            client.shutdown();
        }
        threads.assertGone();
    }

    /** By one attempt: a session over a client makes them for ten seconds by default, whatever the servers are. */
    private static AbstractThrowableAssert<?, ?> assertUnreachable(RedissonClient client) {
        InterlockBuilder hasty = Interlock.builder().client(client).openTimeout(Duration.ZERO);
        return assertTimeoutPreemptively(
                BOUND, () -> assertThat(catchThrowable(hasty::open)).isInstanceOf(RedisUnavailableException.class));
    }

    private static RedissonClient lazyClient(String url) {
        Config config = config(url);
        config.setLazyInitialization(true);
        config.useSingleServer().setRetryAttempts(0); // its own repeats of an attempt take seconds
        return Redisson.create(config);
    }

    /** A closed session leaves no thread; a client that was given to it goes on. */
    @Test
    void closeEndsAllThreads() {
        RedisServer server = RedisServer.provided();
        var keyspace = Keyspace.in(server);
        RedissonClient client = client(server.url());
        try {
            try (Interlock interlock = Interlock.using(client)) {
                assertThat(interlock.lock(keyspace.name("closed")).tryLock()).isTrue();
            }
            threads.assertGone("interlock-");
            assertThat(client.isShutdown()).isFalse();
            assertThat(client.getBucket(keyspace.name("closed")).isExists()).isFalse();
        } finally {
            client.shutdown();
        }
        threads.assertGone();
        try (Interlock interlock = Interlock.connect(server.url())) {
            assertThat(interlock.lock(keyspace.name("closed")).tryLock()).isTrue();
        }
        threads.assertGone();
        keyspace.assertOnlyMarksAreLeft();
    }

    private static RedissonClient client(String url) {
        return Redisson.create(config(url));
    }

    private static Config config(String url) {
        var config = new Config();
        config.useSingleServer().setAddress(url);
        return config;
    }
}
