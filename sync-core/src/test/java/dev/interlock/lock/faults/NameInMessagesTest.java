package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A name may contain anything, line ends included. Logs and messages show it escaped, and cut to one line. */
class NameInMessagesTest extends FaultFixture {
    private static final String NAME = "stock\n2026-11-23 ERROR forged\r\u001b[2J\u2028\u202e" + "x".repeat(400);

    @Override
    protected String lasting() {
        return "mark|token|turns|signals|latch|semaphore|barrier";
    }

    /** The text shows the name, in a line that is cut. */
    private static void assertHarmless(String text) {
        assertThat(text).contains("stock\\u000a2026-11-23 ERROR forged\\u000d\\u001b[2J\\u2028\\u202ex");
        assertThat(text).hasSizeLessThan(1_500);
        assertThat(text.chars().noneMatch(c -> Character.isISOControl(c) || c == '\u2028' || c == '\u202e'))
                .isTrue();
    }

    private static String messageOf(ThrowingCallable call) {
        return String.valueOf(catchThrowable(call).getMessage());
    }

    @Test
    void objectsAreDescribedInOneLine() {
        Interlock session = undisturbed();
        RateLimit limit = RateLimit.fixedWindow(1, Duration.ofSeconds(1));
        List<Object> all = List.of(
                session.lock(NAME),
                session.lock(NAME).newCondition(NAME),
                session.readWriteLock(NAME),
                session.readWriteLock(NAME).readLock(),
                session.readWriteLock(NAME).writeLock(),
                session.semaphore(NAME, 1),
                session.cyclicBarrier(NAME, 2),
                session.rateLimiter(NAME, limit),
                session.rateLimiter("other", limit).forKey(NAME));
        assertThat(all).allSatisfy(object -> assertHarmless(object.toString()));
        assertHarmless(messageOf(() -> session.fairLock(NAME)));
        assertHarmless(messageOf(() -> session.fairReadWriteLock(NAME)));
        assertHarmless(messageOf(() -> session.lock(NAME, LockOptions.retain(Duration.ofSeconds(1)))));
        assertHarmless(messageOf(() -> session.semaphore(NAME, 2)));
        assertHarmless(messageOf(() -> session.cyclicBarrier(NAME, 3)));
        session.countDownLatch(NAME, 1).countDown();
    }

    /** What goes wrong is told in lines, too: renewals that fail, locks that are lost, a Redis that doesn't answer. */
    @Test
    void troubleIsToldInLines() throws InterruptedException {
        Logger logger = (Logger) LoggerFactory.getLogger("dev.interlock");
        ListAppender<ILoggingEvent> told = new ListAppender<>();
        told.list = new CopyOnWriteArrayList<>();
        told.start();
        logger.setLevel(Level.DEBUG); // at which a renewal is told that an outage has cost
        logger.addAppender(told);
        try {
            // A renewal times out, and then the lease is over.
            Interlock session = impatient(b -> b.lease(Duration.ofSeconds(4)));
            DistributedReentrantLock lock = session.lock(NAME);
            DistributedReadWriteLock pair = session.readWriteLock(NAME);
            Actor holder = actor("holder");
            holder.run(lock::lock);
            holder.run(pair.readLock()::lock);
            CompletableFuture<LeaseLostException> lost = new CompletableFuture<>();
            lock.onLost(lost::complete);
            proxy().stall();
            assertHarmless(messageOf(() -> session.lock(NAME + NAME).tryLock(100, TimeUnit.MILLISECONDS)));
            assertThat(lost).succeedsWithin(PATIENCE);
            assertHarmless(String.valueOf(lost.join().getMessage()));
            assertThat(lost.join().lockName()).isEqualTo(NAME);
            proxy().heal();
            holder.ask(() -> catchThrowable(lock::unlock)).join();
            holder.ask(() -> catchThrowable(pair.readLock()::unlock)).join();
        } finally {
            logger.detachAppender(told);
            logger.setLevel(null);
        }
        List<String> lines = told.list.stream()
                .map(ILoggingEvent::getFormattedMessage)
                .filter(line -> line.contains("stock"))
                .toList();
        assertThat(lines)
                .anyMatch(line -> line.contains("renewed"))
                .anyMatch(line -> line.contains("lost"))
                .allSatisfy(NameInMessagesTest::assertHarmless);
    }
}
