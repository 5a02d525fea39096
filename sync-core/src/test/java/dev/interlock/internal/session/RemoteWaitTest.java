package dev.interlock.internal.session;

import static dev.interlock.internal.session.VirtualEnvironment.COMMAND_MILLIS;
import static dev.interlock.internal.session.VirtualEnvironment.OUTAGE_MILLIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisTimeoutException;

/** How long a thread waits for Redis, and what ends that, in virtual time: the thread is that of the test. */
class RemoteWaitTest {
    private final VirtualEnvironment environment = new VirtualEnvironment();
    private final RedisSession session = environment.session(SyncListener.NONE);

    @AfterEach
    void noInterruptIsLeft() {
        assertThat(Thread.interrupted()).isFalse();
    }

    private static long millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos);
    }

    private RemoteWait await(boolean interruptible, long waitNanos) {
        return new RemoteWait(
                session,
                interruptible,
                waitNanos,
                waited -> new RedisUnavailableException("waited " + millis(waited) + " ms", null));
    }

    private RemoteWait await(long waitNanos) {
        return await(true, waitNanos);
    }

    private static long nanos(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    // ---- time

    @Test
    void aShortWaitHasAGraceForTheFirstAnswer() {
        try (RemoteWait wait = await(nanos(10))) {
            assertThat(millis(wait.leftNanos())).isEqualTo(250);
            assertThat(millis(wait.callersLeftNanos())).isEqualTo(10);
            environment.advance(20);
            assertThat(wait.goesOn()).isTrue();
            wait.heard();
            assertThat(millis(wait.leftNanos())).isEqualTo(-10);
            assertThat(wait.goesOn()).as("after the first answer").isFalse();
        }
    }

    @Test
    void aWaitThatIsLongEnoughHasNoGrace() {
        try (RemoteWait wait = await(nanos(400))) {
            assertThat(millis(wait.leftNanos())).isEqualTo(400);
        }
    }

    @Test
    void aWaitWithoutAnAnswerFails() {
        try (RemoteWait wait = await(nanos(400))) {
            environment.advance(400);
            assertThatThrownBy(wait::goesOn)
                    .isInstanceOf(RedisUnavailableException.class)
                    .hasMessage("waited 400 ms");
        }
    }

    @Test
    void aWaitThatEndsInAnOutageFails() {
        try (RemoteWait wait = await(nanos(400))) {
            wait.heard();
            environment.advance(400);
            session.outage().failed(session.now(), new RedisTimeoutException("no answer"));
            assertThatThrownBy(wait::goesOn).isInstanceOf(RedisUnavailableException.class);
        }
    }

    @Test
    void untimedTryWaitsOneCommandTimeoutAtMost() {
        try (RemoteWait wait = await(0)) {
            assertThat(wait.isOnce()).isTrue();
            assertThat(millis(wait.leftNanos())).isEqualTo(COMMAND_MILLIS);
            environment.advance(COMMAND_MILLIS - 1);
            assertThat(wait.goesOn()).isTrue();
            environment.advance(1);
            assertThatThrownBy(wait::goesOn).isInstanceOf(RedisUnavailableException.class);
        }
    }

    @Test
    void aWaitWithoutEndLastsUntilAnOutageIsTooLong() {
        try (RemoteWait wait = await(RemoteWait.FOREVER)) {
            environment.advance(TimeUnit.DAYS.toMillis(1));
            assertThat(wait.goesOn()).isTrue();
            assertThat(wait.leftNanos()).isEqualTo(RemoteWait.FOREVER);
            long failedNanos = session.now();
            session.outage().failed(failedNanos, new RedisTimeoutException("no answer"));
            environment.advance(OUTAGE_MILLIS - 1);
            session.outage().failed(failedNanos, new RedisTimeoutException("no answer"));
            assertThat(wait.goesOn()).isTrue();
            environment.advance(1);
            assertThatThrownBy(wait::goesOn).isInstanceOf(RedisUnavailableException.class);
        }
    }

    @Test
    void aTimedWaitDoesNotLookAtTheOutage() {
        try (RemoteWait wait = await(nanos(60_000))) {
            session.outage().failed(session.now(), new RedisTimeoutException("no answer"));
            environment.advance(OUTAGE_MILLIS);
            session.outage().failed(session.now(), new RedisTimeoutException("no answer"));
            assertThat(session.outage().isTooLong()).isTrue();
            assertThat(wait.goesOn()).isTrue();
        }
    }

    // ---- interrupts and the end of the session

    @Test
    void anInterruptEndsAnInterruptibleWait() {
        try (RemoteWait wait = await(true, RemoteWait.FOREVER)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(wait::check).isInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void anotherWaitKeepsTheInterrupt() throws InterruptedException {
        var answer = new CompletableFuture<Void>();
        environment.schedule(() -> answer.complete(null), 100);
        try (RemoteWait wait = await(false, RemoteWait.FOREVER)) {
            Thread.currentThread().interrupt();
            assertThat(wait.until(answer, this, RemoteWait.FOREVER)).isTrue();
            assertThat(Thread.currentThread().isInterrupted())
                    .as("while it waits")
                    .isFalse();
        }
        assertThat(Thread.interrupted()).as("afterwards").isTrue();
        assertThat(environment.elapsedMillis()).isEqualTo(100);
    }

    @Test
    void aClosedSessionEndsAWait() {
        environment.schedule(session::close, 1_500);
        try (RemoteWait wait = await(RemoteWait.FOREVER)) {
            assertThatThrownBy(() -> wait.until(() -> false, this, RemoteWait.FOREVER))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
        }
        assertThat(environment.elapsedMillis()).as("it looks once a second").isEqualTo(2_000);
    }

    // ---- sleeping

    @Test
    void aWakeUpBeforeTheSleepIsNotLost() {
        try (RemoteWait wait = await(RemoteWait.FOREVER)) {
            wait.look();
            wait.wake();
            // What has parked in between has used the permit up.
            environment.park(this, 1);
            wait.sleep(this, RemoteWait.FOREVER);
            assertThat(wait.isWoken()).isTrue();
            wait.look();
            assertThat(wait.isWoken()).isFalse();
            wait.sleep(this, nanos(10));
            assertThat(environment.elapsedMillis()).isEqualTo(10);
        }
    }

    @Test
    void anUnparkForAnotherReasonDoesNotEndTheWait() throws InterruptedException {
        var isSo = new AtomicBoolean();
        environment.schedule(() -> environment.unpark(Thread.currentThread()), 100);
        try (RemoteWait wait = await(RemoteWait.FOREVER)) {
            environment.schedule(
                    () -> {
                        isSo.set(true);
                        wait.wake();
                    },
                    300);
            assertThat(wait.until(isSo::get, this, RemoteWait.FOREVER)).isTrue();
        }
        assertThat(environment.elapsedMillis()).isEqualTo(300);
    }

    @Test
    void aSleepEndsInTime() throws InterruptedException {
        try (RemoteWait wait = await(RemoteWait.FOREVER)) {
            assertThat(wait.until(() -> false, this, nanos(2_500))).isFalse();
        }
        assertThat(environment.elapsedMillis()).isEqualTo(2_500);
    }

    @Test
    void aFailureIsAnAnswer() throws InterruptedException {
        var answer = new CompletableFuture<Void>();
        environment.schedule(() -> answer.completeExceptionally(new IllegalStateException()), 100);
        try (RemoteWait wait = await(RemoteWait.FOREVER)) {
            assertThat(wait.until(answer, this, RemoteWait.FOREVER)).isTrue();
        }
        assertThat(environment.elapsedMillis()).isEqualTo(100);
    }

    @Test
    void aSpinSeesWhetherTheThreadWasWoken() {
        try (RemoteWait wait = await(RemoteWait.FOREVER)) {
            wait.look();
            assertThat(wait.spin()).isFalse();
            wait.wake();
            assertThat(wait.spin()).isTrue();
        }
    }

    // ---- waits for one answer

    @Test
    void anAnswerIsWaitedForWhateverBecomesOfTheSession() {
        var answer = new CompletableFuture<String>();
        environment.schedule(() -> answer.complete("done"), 100);
        environment.schedule(Thread.currentThread()::interrupt, 50);
        assertThat(RemoteWait.forAnswer(session, answer, nanos(1_000))).isEqualTo("done");
        assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
        assertThat(environment.elapsedMillis()).isEqualTo(100);
    }

    @Test
    void anAnswerThatDoesNotComeOrFailsIsNone() {
        assertThat(RemoteWait.forAnswer(session, new CompletableFuture<String>(), nanos(1_000)))
                .isNull();
        assertThat(environment.elapsedMillis()).isEqualTo(1_000);
        assertThat(RemoteWait.forAnswer(
                        session, CompletableFuture.<String>failedFuture(new IllegalStateException()), 1))
                .isNull();
    }
}
