package dev.interlock.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import com.google.common.base.Throwables;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.RedisUnavailableException;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

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

    private final ListAppender<ILoggingEvent> events = new ListAppender<>();
    private final Map<Logger, Level> loggers =
            Map.of(logger("dev.interlock"), Level.TRACE, logger("org.redisson"), Level.DEBUG);

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
        return Interlock.builder().commandTimeout(Duration.ofMillis(500)).redisTimeout(Duration.ofMillis(500));
    }

    private static Throwable refusal(InterlockBuilder builder) {
        Throwable failure = catchThrowable(builder::open);
        assertThat(failure).isInstanceOf(RedisUnavailableException.class);
        return failure;
    }

    @Test
    @Tag("proof")
    void wrongCredentialsAreNotTold() {
        try (RedisServer server = RedisServer.launch()) {
            server.command("CONFIG", "SET", "requirepass", "another");
            String address = server.host() + ":" + server.port();
            assertNothingTold(
                    refusal(hasty().uri("redis://" + USER + ":" + ENCODED + "@" + address)),
                    refusal(hasty().uri("redis://" + address).credentials(USER, SECRET)));
        }
    }

    @Test
    @Tag("proof")
    void credentialsForAServerThatIsGoneAreNotTold() {
        RedisServer server = RedisServer.launch();
        server.close();
        InterlockBuilder builder =
                hasty().uri("redis://" + server.host() + ":" + server.port()).credentials(USER, SECRET);
        assertNothingTold(refusal(builder), builder);
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
                server.kill();
                Throwable unavailable =
                        catchThrowable(() -> session.lock("unreachable").lock());
                assertThat(unavailable).isInstanceOf(RedisUnavailableException.class);
                assertNothingTold(
                        unavailable,
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
        Interlock.connect(RedisServer.provided().url()).close(); // something for the log
        assertNothingTold(
                catchThrowable(() -> Interlock.connect("redis://" + USER + ":" + ENCODED + "@host:0")),
                catchThrowable(() -> Interlock.connect("redis://" + USER + ":" + SECRET + "@host:6379")),
                catchThrowable(() -> Interlock.connect("redis://" + USER + ":" + ENCODED + "@host:6379/x")));
    }
}
