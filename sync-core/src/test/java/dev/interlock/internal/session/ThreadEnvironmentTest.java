package dev.interlock.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The threads of a session. */
class ThreadEnvironmentTest {
    private final ThreadEnvironment environment = new ThreadEnvironment("");

    @AfterEach
    void stop() {
        environment.stop();
    }

    private static void await(String what, AtomicInteger count, int number) {
        Awaitility.await(what).atMost(Duration.ofSeconds(20)).until(() -> count.get() == number);
    }

    /** What may be left out is, if a listener takes its time, and the log says so; what may not be waits. */
    @Test
    void reportsBehindAListenerThatBlocksAreDropped() throws InterruptedException {
        Logger logger = (Logger) LoggerFactory.getLogger(ThreadEnvironment.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger reports = new AtomicInteger();
        AtomicInteger losses = new AtomicInteger();
        environment.reports().execute(() -> {
            begun.countDown();
            Uninterruptibles.awaitUninterruptibly(end);
        });
        begun.await();
        for (int i = 0; i < 3_000; i++) {
            environment.reports().execute(reports::incrementAndGet);
        }
        environment.listeners().execute(losses::incrementAndGet);
        end.countDown();
        await("told", losses, 1);
        assertThat(reports).hasValue(1_000);
        assertThat(lines.list)
                .singleElement()
                .satisfies(line -> assertThat(line.getFormattedMessage()).contains("was dropped"));
        environment.reports().execute(reports::incrementAndGet);
        await("told again", reports, 1_001);
        logger.detachAppender(lines);
    }

    @Test
    void aTaskThatIsCancelledIsForgotten() {
        AtomicInteger runs = new AtomicInteger();
        environment.schedule(runs::incrementAndGet, 60_000).cancel();
        environment.schedule(runs::incrementAndGet, 1);
        await("the other one", runs, 1);
        environment.stop();
        // A session that is closed runs nothing any more, so there is nothing to cancel.
        environment.schedule(runs::incrementAndGet, 0).cancel();
        assertThat(runs).hasValue(1);
    }
}
