package dev.interlock.lifecycle;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What this library says in its log while this is open. */
final class Lines extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.interlock");
    private final Level level = logger.getLevel();

    Lines() {
        start();
        logger.setLevel(Level.INFO);
        logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        events.add(event);
    }

    /** Returns the lines of that level that contain a text. */
    List<String> at(Level wanted, String text) {
        return events.stream()
                .filter(event -> event.getLevel() == wanted)
                .map(ILoggingEvent::getFormattedMessage)
                .filter(line -> line.contains(text))
                .toList();
    }

    List<String> warnings() {
        return at(Level.WARN, "");
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setLevel(level);
        stop();
    }
}
