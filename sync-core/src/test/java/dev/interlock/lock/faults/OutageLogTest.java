package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What the log says of an outage. */
class OutageLogTest extends FaultFixture {

    /** Keeps what is logged as a warning. */
    private static final class Warnings extends AppenderBase<ILoggingEvent> {
        private final ConcurrentLinkedQueue<String> messages = new ConcurrentLinkedQueue<>();

        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                messages.add(event.getFormattedMessage());
            }
        }
    }

    /** One line for all names together, however many locks are held and however often their renewal fails. */
    @Test
    void anOutageIsWarnedOfOnce() {
        Recorder recorder = new Recorder();
        // Renewals fail twice within the lease.
        Interlock session =
                impatient(builder -> builder.lease(Duration.ofSeconds(9)).listener(recorder));
        List<DistributedReentrantLock> held =
                IntStream.range(0, 5).mapToObj(i -> lock(session, "held-" + i)).toList();
        held.forEach(DistributedReentrantLock::lock);
        Logger logger = (Logger) LoggerFactory.getLogger("dev.interlock");
        Warnings warnings = new Warnings();
        warnings.start();
        logger.addAppender(warnings);
        try {
            proxy().refuse(true);
            proxy().cut();
            await("renewals fail").until(() -> recorder.count(Recorder.Kind.RENEWAL_FAILED) >= 2 * held.size());
            proxy().refuse(false);
            await("it is over").until(() -> recorder.count(Recorder.Kind.REACHABLE) > 0);
        } finally {
            logger.detachAppender(warnings);
        }
        held.forEach(DistributedReentrantLock::unlock);
        assertThat(warnings.messages).singleElement().asString().contains("doesn't answer");
    }
}
