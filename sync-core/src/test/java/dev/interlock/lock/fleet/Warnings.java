package dev.interlock.lock.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** What Redisson and this library warn of while this is open. */
final class Warnings implements AutoCloseable {

    private static final List<String> LOGGERS = List.of("org.redisson", "dev.interlock");

    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();
    private final List<Logger> loggers;
    private final List<Level> levels;

    Warnings() {
        appender.start();
        loggers = LOGGERS.stream()
                .map(name -> (Logger) LoggerFactory.getLogger(name))
                .toList();
        levels = loggers.stream().map(Logger::getEffectiveLevel).toList();
        for (Logger logger : loggers) {
            logger.setLevel(Level.WARN);
            logger.addAppender(appender);
        }
    }

    void assertNone() {
        assertThat(List.copyOf(appender.list)).as("warnings").isEmpty();
    }

    @Override
    public void close() {
        for (int i = 0; i < loggers.size(); i++) {
            loggers.get(i).detachAppender(appender);
            loggers.get(i).setLevel(levels.get(i));
        }
        appender.stop();
    }
}
