package dev.interlock.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * What the library logs as an error while simulations run: a task of a session that has failed. Nothing else is logged.
 */
final class ErrorLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.interlock");
    private final @Nullable Level level = logger.getLevel();
    private final boolean isAdditive = logger.isAdditive();
    private final Thread runner = Thread.currentThread();
    private @Nullable String error;

    ErrorLog() {
        setContext(logger.getLoggerContext());
        start();
        logger.setLevel(Level.ERROR);
        logger.setAdditive(false);
        logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        // Threads that other tests have left behind log when they like.
        if (Thread.currentThread() != runner && Thread.currentThread().getThreadGroup() != Actor.THREADS) {
            return;
        }
        if (event.getThrowableProxy() instanceof ThrowableProxy thrown
                && thrown.getThrowable() instanceof Actor.Death) {
            return;
        }
        error = event.getFormattedMessage()
                + (event.getThrowableProxy() == null
                        ? ""
                        : ": " + event.getThrowableProxy().getClassName() + ": "
                                + event.getThrowableProxy().getMessage());
    }

    /** Throws if something was logged. */
    void check() {
        String logged = error;
        if (logged != null) {
            error = null;
            throw new Violation("Logged as an error: " + logged);
        }
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setAdditive(isAdditive);
        logger.setLevel(level);
        stop();
    }
}
