package dev.interlock.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import com.google.common.base.Throwables;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.RedisUnavailableException;
import dev.interlock.Transport;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.spring.boot.InterlockAutoConfiguration;
import dev.interlock.spring.boot.InterlockIntegrationsAutoConfiguration;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Nothing that Interlock says holds a password or a user's name: no log at any level, no exception, no text of an
 * object.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SecrecyTest {
    private static final String USER = "us3r-n4me";
    private static final String SECRET = "s3cr3t p@ss";
    private static final String ENCODED = "s3cr3t%20p%40ss";
    private static final List<String> SECRETS = List.of(SECRET, ENCODED, "s3cr3t", USER);

    /** Slips of all kinds, after which nobody can tell the password from the rest. */
    private static final List<String> BAD_URIS = Stream.of(
                    "redis://U:S@host:0",
                    "redis://U:S@host:6379/x",
                    "redis://U:S@host:port",
                    "redis://U:S@host/0/1",
                    "redis://U:S@host?x=1",
                    "redis://U:S@ho st",
                    "redis://U:S",
                    "redis://:S%40host:6379",
                    "redis://U:S%40host:6379",
                    "redis://U%3AS%40host:x",
                    "redis://host:S",
                    "redis://host/S",
                    "redis://host?password=S&user=U",
                    "redis://host#S",
                    "redis://U:p@S:x",
                    "redis:U:S@host",
                    "http://U:S@host",
                    "U:S@host:6379",
                    "S",
                    "redis-sentinel://U:S@host",
                    "redis-sentinel://U:S@host,other:x/main",
                    "redis-sentinel://host/main/S",
                    "redis-cluster://U:S@host/1",
                    "redis-cluster://host,U:S@other:x",
                    "redis-cluster://U:S@host,",
                    "redis-socket://U:S@/run/redis.sock")
            .map(uri -> uri.replace("U", USER).replace("S", ENCODED))
            .toList();

    private static final RedisServer SERVER = RedisServer.launch();
    private static final Recording FLIGHT = new Recording();

    @BeforeAll
    static void record() {
        // Boot's would take the appender away.
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
        SERVER.command("CONFIG", "SET", "requirepass", "another");
        for (String event : new String[] {"LockWait", "LockHold", "LeaseLost", "RedisOutage"}) {
            FLIGHT.enable("dev.interlock." + event).withoutThreshold();
        }
        FLIGHT.start();
    }

    /** Whether a test has had one: they don't run all at a time. */
    private static volatile boolean hadOutage;

    @AfterAll
    static void theFlightRecordingTellsNothing() throws IOException {
        System.clearProperty("org.springframework.boot.logging.LoggingSystem");
        SERVER.close();
        Path file = Files.createTempFile("secrecy", ".jfr");
        try (FLIGHT) {
            FLIGHT.stop();
            FLIGHT.dump(file);
            List<RecordedEvent> recorded = RecordingFile.readAllEvents(file);
            if (hadOutage) {
                assertThat(recorded)
                        .anyMatch(event -> event.getEventType().getName().equals("dev.interlock.RedisOutage"));
            }
            assertThat(recorded)
                    .map(RecordedEvent::toString)
                    .allSatisfy(text -> assertThat(SECRETS).noneMatch(text::contains));
        } finally {
            Files.delete(file);
        }
    }

    private final ListAppender<ILoggingEvent> events = new ListAppender<>();
    private final Map<Logger, Level> loggers = Map.of(
            logger("dev.interlock"), Level.TRACE,
            logger("org.redisson"), Level.DEBUG,
            logger("org.springframework.boot"), Level.DEBUG);

    private static Logger logger(String name) {
        return (Logger) LoggerFactory.getLogger(name);
    }

    @BeforeEach
    void listen() {
        events.start();
        loggers.forEach((logger, level) -> {
            logger.setLevel(level);
            logger.setAdditive(false);
            logger.addAppender(events);
        });
        // A client that connects says so.
        Interlock.builder()
                .uri(RedisServer.provided().url())
                .transport(Transport.REDISSON)
                .open()
                .close();
    }

    @AfterEach
    void deafen() {
        loggers.keySet().forEach(logger -> {
            logger.detachAppender(events);
            logger.setAdditive(true);
            logger.setLevel(logger.getName().equals("org.redisson") ? Level.ERROR : null);
        });
    }

    private void assertNothingTold(Object... said) {
        List<String> texts = new ArrayList<>();
        for (Object each : said) {
            texts.add(each instanceof Throwable thrown ? Throwables.getStackTraceAsString(thrown) : each.toString());
        }
        assertThat(List.copyOf(events.list))
                .as("Redisson's log")
                .anyMatch(event -> event.getLoggerName().startsWith("org.redisson") && event.getLevel() == Level.DEBUG);
        for (ILoggingEvent event : List.copyOf(events.list)) {
            texts.add(event.getLoggerName() + ": " + event.getFormattedMessage() + "\n"
                    + ThrowableProxyUtil.asString(event.getThrowableProxy()));
        }
        assertThat(texts).allSatisfy(text -> assertThat(SECRETS).noneMatch(text::contains));
    }

    private static InterlockBuilder hasty() {
        return Interlock.builder()
                .openTimeout(Duration.ofSeconds(2))
                .commandTimeout(Duration.ofMillis(500))
                .redisTimeout(Duration.ofMillis(500));
    }

    private static Throwable refusal(InterlockBuilder builder) {
        Throwable failure = catchThrowable(builder::open);
        assertThat(failure).isInstanceOf(RedisUnavailableException.class);
        return failure;
    }

    /** The life of a session, with an outage in it and whatever is printed of it. */
    @Test
    void aSessionDoesNotTellItsCredentials() {
        try (RedisServer server = RedisServer.launch()) {
            server.command("ACL", "SETUSER", USER, "on", ">" + SECRET, "~*", "&*", "+@all", "-publish");
            InterlockBuilder builder =
                    hasty().uri("redis://" + USER + ":" + ENCODED + "@" + server.host() + ":" + server.port());
            try (Interlock session = builder.open()) {
                Throwable refused = catchThrowable(() -> {
                    session.lock("refused").lock();
                    session.lock("refused").unlock();
                });
                server.pause();
                Throwable silent = catchThrowable(() -> session.lock("silent").lock());
                server.resume();
                await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> session.ping() != null);
                server.kill();
                hadOutage = true;
                Throwable unavailable =
                        catchThrowable(() -> session.lock("unreachable").lock());
                assertThat(unavailable).isInstanceOf(RedisUnavailableException.class);
                assertNothingTold(
                        unavailable,
                        String.valueOf(silent),
                        String.valueOf(refused),
                        builder,
                        session,
                        session.lock("unreachable"),
                        session.rateLimiter("unreachable", RateLimit.fixedWindow(1, Duration.ofSeconds(1))));
            }
        }
        assertNothingTold();
    }

    @Test
    void aBadUriIsNotTold() {
        assertNothingTold(BAD_URIS.stream()
                .flatMap(
                        uri -> Stream.of(catchThrowable(() -> Interlock.connect(uri)), started("interlock.uri=" + uri)))
                .toArray());
    }

    /** Each way in which a session may not open, by the builder and by Spring Boot. */
    static Stream<Arguments> addresses() {
        return Stream.of(
                Arguments.of("refused", "redis://127.0.0.1:1"),
                Arguments.of("refused", "redis-cluster://127.0.0.1:1,127.0.0.1:2"),
                Arguments.of("refused", "redis-sentinel://127.0.0.1:1,127.0.0.1:2/main"),
                Arguments.of("unknown", "redis://no-such-host.invalid"),
                Arguments.of("unknown", "redis-cluster://no-such-host.invalid,127.0.0.1:1"),
                Arguments.of("unknown", "redis-sentinel://no-such-host.invalid,127.0.0.1:1/main"),
                Arguments.of("without TLS", "rediss://" + SERVER.host() + ":" + SERVER.port()),
                Arguments.of("without TLS", "rediss-cluster://" + SERVER.host() + ":" + SERVER.port()),
                Arguments.of("without TLS", "rediss-sentinel://" + SERVER.host() + ":" + SERVER.port() + "/main"),
                Arguments.of("wrong password", SERVER.url()),
                Arguments.of("no cluster", SERVER.url().replace("redis:", "redis-cluster:")),
                Arguments.of("no sentinel", SERVER.url().replace("redis:", "redis-sentinel:") + "/main"));
    }

    @ParameterizedTest
    @MethodSource("addresses")
    @Tag("proof")
    void aSessionThatDoesNotOpenTellsNothing(String what, String uri) {
        int host = uri.indexOf("//") + 2;
        String withCredentials = uri.substring(0, host) + USER + ":" + ENCODED + "@" + uri.substring(host);
        InterlockBuilder builder = hasty().uri(uri).credentials(USER, SECRET);
        assertNothingTold(
                refusal(hasty().uri(withCredentials)),
                refusal(builder),
                builder,
                started("interlock.uri=" + withCredentials),
                started("interlock.uri=" + uri, "interlock.username=" + USER, "interlock.password=" + SECRET));
    }

    /** A server that never answers is asked several times. */
    @Test
    @Tag("proof")
    void silenceTellsNothing() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String address = "127.0.0.1:" + silent.getLocalPort();
            assertNothingTold(
                    refusal(hasty().uri("redis://" + USER + ":" + ENCODED + "@" + address)),
                    started("interlock.uri=rediss://" + USER + ":" + ENCODED + "@" + address));
        }
    }

    @Test
    @Tag("proof")
    void aServerThatIsNotTrustedIsToldNothing(@TempDir Path folder)
            throws IOException, GeneralSecurityException, InterruptedException {
        Certificate certificate = Certificate.of("ip:127.0.0.1", folder);
        int port = TlsTest.freePort();
        RedisServer server = TlsTest.launch(certificate, port);
        try (server) {
            assertNothingTold(refusal(hasty().uri("rediss://" + USER + ":" + ENCODED + "@127.0.0.1:" + port)));
        }
    }

    /** A user whom Redis lets in, and who may do nothing there. */
    @Test
    void aUserWithoutRightsIsNotTold() {
        try (RedisServer server = RedisServer.launch()) {
            server.command("ACL", "SETUSER", USER, "on", ">" + SECRET, "~*", "&*", "+ping", "+client");
            String uri = "redis://" + USER + ":" + ENCODED + "@" + server.host() + ":" + server.port();
            assertNothingTold(refusal(hasty().uri(uri)), started("interlock.uri=" + uri));
        }
    }

    /** What Boot can't bind, and what its own analyzers would print. */
    @Test
    @Tag("proof")
    void wrongPropertiesAreNotTold() {
        String uri = "interlock.uri=redis://" + USER + ":" + ENCODED + "@";
        assertNothingTold(
                started(uri + "${NO_SUCH_HOST}"),
                started(uri + "${interlock.uri}"),
                started("interlock.uri=redis://host", "interlock.password=" + SECRET + "${interlock.password}"),
                started(uri + "${NO_SUCH_HOST:host}:${NO_SUCH_PORT}"),
                started("interlock.uri=redis://host", "interlock.password=" + SECRET + "${NO_SUCH}"),
                started("interlock.uri=redis://host", "interlock.username=" + USER),
                started("interlock.uri=redis://host", "interlock.username=" + USER + "${NO_SUCH}"),
                started("interlock.uri=redis://" + USER + ":" + SECRET),
                started(uri + "host", "interlock.password=" + SECRET),
                started(uri + "host", "interlock.lease=soon"),
                started(uri + "host", "interlock.lease=1ms"),
                started(uri + "host", "interlock.ssl.bundle=none"));
        assertThat(List.copyOf(events.list))
                .as("Boot's explanations")
                .filteredOn(event -> event.getFormattedMessage().contains("APPLICATION FAILED TO START"))
                .hasSizeGreaterThan(10)
                .anyMatch(event -> event.getFormattedMessage()
                        .contains("The value of the property 'interlock.uri' (from \"interlock.uri\" from property"
                                + " source \"test\") is wrong"));
    }

    static final class StubRedisUrlSyntaxException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        StubRedisUrlSyntaxException() {
            super("The URL 'redis://" + USER + ":" + SECRET + "' is not valid");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WrongUrlOfBoot {
        @Bean
        DataRedisConnectionDetails details() {
            return new DataRedisConnectionDetails() {
                @Override
                public Standalone getStandalone() {
                    throw new StubRedisUrlSyntaxException();
                }
            };
        }
    }

    @Test
    void aWrongUrlOfBootsIsNotTold() {
        Throwable failure =
                catchThrowable(() -> application(WrongUrlOfBoot.class).run().close());
        assertThat(failure).hasStackTraceContaining("Property spring.data.redis.url is wrong");
        assertNothingTold(failure);
    }

    /** All that there is in an application whose session is open. */
    @Test
    void theBeansOfAnApplicationTellNothing() {
        try (RedisServer server = RedisServer.launch()) {
            server.command("ACL", "SETUSER", USER, "on", ">" + SECRET, "~*", "&*", "+@all");
            try (ConfigurableApplicationContext context = application()
                    .properties(
                            "interlock.uri=redis://" + server.host() + ":" + server.port(),
                            "interlock.username=" + USER,
                            "interlock.password=" + SECRET)
                    .run()) {
                assertNothingTold(context.getBeansOfType(Object.class).entrySet().stream()
                        .filter(bean -> bean.getValue().getClass().getName().startsWith("dev.interlock"))
                        .map(bean -> bean.getKey() + "=" + bean.getValue())
                        .toArray());
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        SslAutoConfiguration.class,
        InterlockAutoConfiguration.class,
        InterlockIntegrationsAutoConfiguration.class
    })
    static class Application {}

    private static SpringApplicationBuilder application(Class<?>... more) {
        return new SpringApplicationBuilder(Application.class)
                .sources(more)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .registerShutdownHook(false);
    }

    /** Starts an application, with Boot's report of its failure; returns the failure. */
    private static Throwable started(String... properties) {
        SpringApplicationBuilder application = application()
                .initializers(context -> TestPropertyValues.of(properties)
                        .and("interlock.command-timeout=500ms", "interlock.open-timeout=2s")
                        .applyTo(context));
        Throwable failure = catchThrowable(() -> application.run().close());
        assertThat(failure).as(String.join(", ", properties)).isNotNull();
        return failure;
    }
}
