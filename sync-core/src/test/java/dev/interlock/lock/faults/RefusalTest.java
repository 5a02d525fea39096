package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.RespError;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Redis answers, but with an error that passes: BUSY, LOADING, NOSCRIPT. It is waited out. */
class RefusalTest extends FaultFixture {
    private static final String NAME = "stock";

    @Override
    protected String lasting() {
        return "mark|token|turns|signals|latch|semaphore";
    }

    private static boolean isRefused(FaultFixture test, String error) {
        try {
            test.server().command("GET", "anything");
            return false;
        } catch (RespError e) {
            return e.getMessage().startsWith(error);
        }
    }

    @Test
    void aScriptThatKeepsRedisBusyIsWaitedOut() {
        Recorder recorder = new Recorder();
        Interlock session = session(b -> b.listener(recorder).lease(Duration.ofSeconds(6)));
        DistributedReentrantLock held = lock(session, "held");
        DistributedReentrantLock lock = lock(session, NAME);
        held.lock();
        server().command("CONFIG", "SET", "busy-reply-threshold", "20");
        Actor busy = actor("busy");
        CompletableFuture<Boolean> script = busy.begin(() -> {
            try {
                server().command("EVAL", "while true do end", "0");
            } catch (RespError e) {
                assertThat(e.getMessage()).contains("killed");
            }
        });
        await("busy").until(() -> isRefused(this, "BUSY"));
        Actor actor = actor("actor");
        CompletableFuture<Boolean> entered = actor.begin(lock::lock);
        await("it lasts").during(Duration.ofMillis(1_200)).until(() -> !entered.isDone());
        server().command("SCRIPT", "KILL");
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(script).succeedsWithin(PATIENCE);
        actor.run(lock::unlock);
        held.assertHeld();
        held.unlock();
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
    }

    /** Where somebody else's value is at a key, the message says so in a line, without the script that has met it. */
    @Test
    void aValueOfAnotherTypeIsToldInALine() {
        Interlock session = session();
        RateLimit limit = RateLimit.fixedWindow(1, Duration.ofHours(1));
        session.rateLimiter(NAME, limit).tryAcquire();
        session.semaphore(NAME, 1).acquireUninterruptibly();
        session.semaphore(NAME, 1).release();
        for (String key : server().keys("*" + NAME + "*")) {
            server().command("DEL", key);
            server().command("LPUSH", key, "a stranger's");
        }
        server().command("LPUSH", NAME, "a stranger's");

        Map<String, ThrowingCallable> all = Map.of(
                "lock 'stock'", () -> session.lock(NAME).lock(),
                "lock 'fair'",
                        () -> {
                            server().command("LPUSH", "fair", "a stranger's");
                            session.fairLock("fair").tryLock();
                        },
                "semaphore 'stock'", () -> session.semaphore(NAME, 1).tryAcquire(),
                "rate limiter 'stock'", () -> session.rateLimiter(NAME, limit).tryAcquire());
        all.forEach((what, call) -> assertThatThrownBy(call)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageMatching("Redis refuses " + what + ": .*\\(WRONGTYPE\\)")
                .message()
                .doesNotContain("script"));
        server().keys("*").forEach(key -> server().command("DEL", key));
    }

    @Test
    void aRedisThatIsLoadingIsWaitedOut() {
        DistributedReentrantLock held = lock(session(), "held");
        DistributedReentrantLock lock = lock(session(), NAME);
        held.lock();
        server().command("DEBUG", "POPULATE", "8000", "ballast");
        server().command("CONFIG", "SET", "key-load-delay", "200");
        server().command("CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
        Actor loader = actor("loader");
        CompletableFuture<Boolean> loaded = loader.begin(() -> server().command("DEBUG", "RELOAD"));
        await("loading").until(() -> isRefused(this, "LOADING"));
        Actor actor = actor("actor");
        CompletableFuture<Boolean> entered = actor.begin(lock::lock);
        assertThat(loaded).succeedsWithin(PATIENCE);
        assertThat(entered).succeedsWithin(PATIENCE);
        actor.run(lock::unlock);
        held.assertHeld();
        held.unlock();
        server().command("EVAL", "for _, k in ipairs(redis.call('keys', 'ballast*')) do redis.call('del', k) end", "0");
    }

    /** The scripts are forgotten while threads wait and hold: releases, polls and batched renewals load them again. */
    @Test
    void forgottenScriptsAreLoadedAgain() {
        Recorder recorder = new Recorder();
        Interlock session = session(b -> b.listener(recorder).lease(Duration.ofSeconds(3)));
        List<DistributedReentrantLock> held =
                IntStream.range(0, 5).mapToObj(i -> lock(session, "held-" + i)).toList();
        DistributedReentrantLock wanted = lock(session(), "held-0");
        held.forEach(DistributedReentrantLock::lock);
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = waiter.begin(wanted::lock);
        awaitTickets("held-0", 1);
        server().command("SCRIPT", "FLUSH");
        int before = recorder.count(Recorder.Kind.RENEWED);
        await("renewed").until(() -> recorder.count(Recorder.Kind.RENEWED) >= before + 10);
        held.forEach(DistributedReentrantLock::assertHeld);
        server().command("SCRIPT", "FLUSH");
        held.forEach(DistributedReentrantLock::unlock);
        assertThat(entered).succeedsWithin(PROMPTLY);
        server().command("SCRIPT", "FLUSH");
        waiter.run(wanted::unlock);
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
        assertThat(recorder.count(Recorder.Kind.UNREACHABLE)).isZero();
    }

    /**
     * Something else has the name for a moment. At no time is there nothing: what is repeated would take that for a
     * loss.
     */
    private void whileTaken(String key, Actor.Action action) throws InterruptedException {
        server().command("COPY", key, "interlock:mark:aside");
        server().command("SET", key, "a string");
        action.run();
        server().command("RENAME", "interlock:mark:aside", key);
    }

    /** What lasts as far as anybody knows may pass all the same; a release is told until the lease is over. */
    @Test
    void aReleaseThatIsRefusedIsRepeated() throws InterruptedException {
        DistributedReentrantLock lock = lock(session(), NAME);
        DistributedReentrantLock wanted = lock(session(), NAME);
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(lock::lock);
        whileTaken(NAME, () -> holder.run(lock::unlock));
        CompletableFuture<Boolean> entered = waiter.begin(wanted::lock);
        assertThat(entered).succeedsWithin(PATIENCE);
        waiter.run(wanted::unlock);
    }

    /** A refusal ends those waits that it concerns, not the latch; and what was counted counts. */
    @Test
    void aRefusalDoesNotEndALatch() throws InterruptedException {
        DistributedCountDownLatch latch = session().countDownLatch(NAME, 2);
        DistributedCountDownLatch other = session().countDownLatch(NAME, 2);
        whileTaken(
                "interlock:{" + NAME + "}:latch",
                () -> assertThatThrownBy(latch::countDown)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(NAME));
        await("counted").until(() -> other.getCount() == 1);
        latch.countDown();
        assertThat(actor("waiter").begin(latch::await)).succeedsWithin(PATIENCE);
        assertThat(other.getCount()).isZero();
    }

    @Test
    void aPermitWhoseReturnIsRefusedIsReturnedLater() throws InterruptedException {
        DistributedSemaphore semaphore = session().semaphore(NAME, 1);
        DistributedSemaphore other = session().semaphore(NAME, 1);
        semaphore.acquire();
        whileTaken("interlock:{" + NAME + "}:semaphore", semaphore::release);
        await("returned").until(() -> other.availablePermits() == 1);
    }
}
