package dev.interlock.lifecycle;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.interlock.Interlock;
import dev.interlock.internal.SessionId;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/** What this library says in its log while this is open. */
final class Lines extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private static final Pattern OF_A_SESSION = Pattern.compile("interlock-\\w+-\\p{XDigit}{8}");

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

    /** Returns the warnings, but for those of threads that belong to another session: other tests leave some behind. */
    List<String> warnings(Interlock session) {
        return events.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .filter(event -> !OF_A_SESSION.matcher(event.getThreadName()).matches()
                        || event.getThreadName().endsWith(SessionId.brief(session.id())))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setLevel(level);
        stop();
    }
}
