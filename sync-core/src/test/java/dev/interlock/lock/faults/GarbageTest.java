package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Whoever may write to Redis writes what a session reads, and must not fill its log by that. */
class GarbageTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final int MANY = 200;

    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.interlock");
    private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                lines.add(event.getFormattedMessage());
            }
        }
    };

    @BeforeEach
    void listen() {
        lines.clear();
        appender.start();
        logger.addAppender(appender);
    }

    @AfterEach
    void listenNoMore() {
        logger.detachAppender(appender);
    }

    private void mail(Interlock session, String text) {
        server().command("PUBLISH", "interlock:mailbox:" + session.id(), text);
    }

    /** Unreadable, about tickets that there never were, of no use for a lock. */
    @Test
    void mailIsLoggedNowAndThen() {
        Interlock session = undisturbed();
        DistributedReentrantLock lock = lock(session, NAME);
        lock.lock();
        for (int i = 0; i < MANY; i++) {
            mail(session, "garbage " + i);
            mail(session, "g 9007199254740991 1 1 0 0 0 " + NAME);
            mail(session, "t 1 1 " + NAME);
        }
        // Messages arrive in their order.
        mail(session, "t 1 1 " + NAME);
        await("all three").until(() -> lines.size() >= 3);
        lock.assertHeld();
        lock.unlock();
        session.ping();
        assertThat(lines).hasSizeLessThan(MANY / 10);
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).contains("Unreadable message"))
                .anySatisfy(line -> assertThat(line).contains("a ticket that this session has never had"))
                .anySatisfy(line -> assertThat(line).contains("Unknown message for '" + NAME + "'"));
    }

    @Test
    void aLockThatIsTakenAwayAgainAndAgainIsLoggedNowAndThen() {
        DistributedReentrantLock lock =
                lock(session(builder -> builder.confirmedUnlock(true).adaptiveRetention(false)), NAME);
        for (int i = 0; i < MANY / 10; i++) {
            lock.lock();
            server().command("DEL", NAME);
            assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        }
        assertThat(lines).singleElement().asString().contains("Lock 'stock' was lost");
    }
}
