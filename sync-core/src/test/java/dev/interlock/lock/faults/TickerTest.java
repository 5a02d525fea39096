package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A ticker has no zero: it may be negative, as {@link System#nanoTime} may, and it may overflow. */
@SuppressWarnings("WaitNotInLoop") // it is signalled once
class TickerTest extends FaultFixture {
    private static final String NAME = "stock";

    private static LongSupplier ticker(long begun) {
        long offset = begun - Monotonic.nanos();
        return () -> Monotonic.nanos() + offset;
    }

    static Stream<Long> beginnings() {
        return Stream.of(Long.MIN_VALUE, -1_000_000_000_000L, -1L, 0L, Long.MAX_VALUE - 200_000_000L);
    }

    /** What is free is had, though the answer takes longer than the caller wants to wait. */
    @ParameterizedTest
    @MethodSource("beginnings")
    void whatIsFreeIsHad(long begun) throws InterruptedException {
        Interlock session = session(builder -> builder.ticker(ticker(begun)).commandTimeout(PATIENCE));
        Stream<Function<Interlock, Lock>> locks = Stream.of(
                one -> lock(one, NAME),
                one -> free(one.fairLock("fair")),
                one -> one.readWriteLock("read").readLock(),
                one -> one.readWriteLock("written").writeLock());
        proxy().delayReplies(
                        words -> words.get(0).equalsIgnoreCase("EVALSHA"), Duration.ofMillis(60), FaultProxy.ALWAYS);
        for (Function<Interlock, Lock> kind : locks.toList()) {
            Lock lock = kind.apply(session);
            assertThat(lock.tryLock(10, TimeUnit.MILLISECONDS)).as("%s", lock).isTrue();
            lock.unlock();
        }
        proxy().heal();
    }

    /** The message that tells of the signal is lost. */
    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, Long.MAX_VALUE - 200_000_000L})
    void aSignalIsHeardOf(long begun) {
        Interlock session = session(builder -> builder.ticker(ticker(begun)));
        Interlock other = undisturbed();
        Actor waiter = actor("waiter");
        Lock lock = lock(session, NAME);
        Lock rival = lock(other, NAME);
        Condition condition = lock.newCondition();
        var signalled = waiter.ask(() -> {
            lock.lock();
            condition.await();
            lock.unlock();
            return true;
        });
        awaitFree(NAME);
        await("waits").until(() -> server().keys().contains("interlock:{" + NAME + "}:conditions"));
        proxy().dropMessages(words -> true, FaultProxy.ALWAYS);
        rival.lock();
        Condition same = rival.newCondition();
        same.signal();
        rival.unlock();
        assertThat(signalled).succeedsWithin(PATIENCE);
        proxy().heal();
    }
}
