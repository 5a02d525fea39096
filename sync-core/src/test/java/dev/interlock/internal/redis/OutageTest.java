package dev.interlock.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.interlock.internal.events.Listeners;
import dev.interlock.testing.MovableTicker;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisTimeoutException;
import org.slf4j.LoggerFactory;

/** What the log says of outages: one line when each begins and ends, and few however long and many they are. */
class OutageTest {
    private final MovableTicker ticker = new MovableTicker();
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger(Outage.class);
    private final Outage outage = new Outage(
            "session",
            new Settings(30_000, 0, true, false, false, 30_000_000_000L, 3_000, 0, "", "test", new Listeners(), ticker),
            Runnable::run);

    @BeforeEach
    void listen() {
        appender.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(appender);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(appender);
        logger.setLevel(null);
    }

    private List<String> lines() {
        return appender.list.stream()
                .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                .toList();
    }

    private void fail() {
        outage.failed(ticker.getAsLong(), new RedisTimeoutException("no answer"));
    }

    @Test
    void aLongOutageIsSpokenOfOnceAMinute() {
        for (int i = 0; i < 1_500; i++) {
            fail();
            ticker.advance(Duration.ofMillis(100));
        }
        outage.heard();
        assertThat(lines()).hasSize(4);
        assertThat(lines().get(0)).startsWith("WARN Redis doesn't answer: RedisTimeoutException");
        assertThat(lines().get(1)).startsWith("WARN Redis has not answered for 60 s");
        assertThat(lines().get(2)).startsWith("WARN Redis has not answered for 120 s");
        assertThat(lines().get(3)).startsWith("INFO Redis answers again, after 150");
    }

    private void forget() {
        outage.forgot(ticker.getAsLong(), new RedisNoScriptException("NOSCRIPT No matching script"));
    }

    /** One that has lost its scripts learns them again; one that never knows any is of no use. */
    @Test
    void aRedisThatLearnsNoScriptDoesNotAnswer() {
        forget();
        ticker.advance(Duration.ofSeconds(2));
        forget();
        assertThat(outage.isActive()).isFalse();
        ticker.advance(Duration.ofSeconds(1));
        forget();
        assertThat(outage.isActive()).isTrue();
        outage.heard();
        forget();
        assertThat(outage.isActive()).isFalse();
    }

    @Test
    void outagesThatFollowEachOtherAreCounted() {
        for (int i = 0; i < 1_000; i++) {
            fail();
            ticker.advance(Duration.ofMillis(1));
            outage.heard();
        }
        assertThat(lines()).hasSizeLessThan(10);
        assertThat(lines().get(0)).startsWith("WARN Redis doesn't answer");
        assertThat(lines().get(1)).startsWith("INFO Redis answers again");
    }
}
