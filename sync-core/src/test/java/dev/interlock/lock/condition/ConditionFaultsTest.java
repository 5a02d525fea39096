package dev.interlock.lock.condition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Waiting and signalling when answers, requests and messages get lost, or come late: nobody hangs, no signal counts
 * twice.
 */
@Tag("proof")
@SuppressWarnings("NullAway.Init") // every test with two sides begins with use()
class ConditionFaultsTest extends ConditionFixture {
    /** A session whose commands are disturbed, and another one, whose aren't. */
    private Side disturbed;

    private Side other;

    private void use(Kind kind) {
        // What is lost on a silent connection has to time out.
        disturbed = side(kind, impatient());
        other = side(kind, undisturbed());
    }

    /** Signals by the disturbed session: this waiter returns in time, and so does the signaller. */
    private void signal(CompletableFuture<Boolean> waiter, Duration within) {
        CompletableFuture<Boolean> signalled = actor("signaller").begin(disturbed::signal);
        assertThat(waiter).succeedsWithin(within);
        assertThat(signalled).succeedsWithin(SHORT_TIMEOUT.plus(SLACK));
    }

    /** One more waiter waits, for nothing but a signal of its own. */
    private void assertWaitsForASignal(CompletableFuture<Boolean> waiter) {
        assertStillWaits(waiter, 1);
        disturbed.signal();
        assertThat(waiter).succeedsWithin(PROMPTLY);
    }

    static Stream<Arguments> losses() {
        return Stream.of(Arguments.of(Kind.PLAIN, Loss.MUTE), Arguments.of(Kind.FAIR, Loss.CUT));
    }

    /** A registration that is answered to nobody counts once. */
    @ParameterizedTest
    @MethodSource("losses")
    void aWaiterIsRegisteredOnceThoughTheReplyIsLost(Kind kind, Loss loss) {
        use(kind);
        proxy().dropReplies(registration(), 1, loss);
        CompletableFuture<Boolean> first = startWaiting(disturbed, 1);
        await("loss").until(() -> dropped() == 1);
        assertStillWaits(first, 1);
        CompletableFuture<Boolean> second = startWaiting(other, 2);
        side(kind, undisturbed()).signal();
        assertThat(first).succeedsWithin(REPEATED);
        assertWaitsForASignal(second);
    }

    /** A registration that never arrived is repeated, or its waiter returns: it holds nobody up. */
    @ParameterizedTest
    @MethodSource("losses")
    void aRegistrationThatIsLostIsRepeated(Kind kind, Loss loss) {
        use(kind);
        proxy().dropRequests(registration(), 1, loss);
        CompletableFuture<Boolean> first = actor("first").begin(disturbed::await);
        await("loss").until(() -> proxy().droppedRequests() > 0);
        await("registered, or returned").until(() -> waiters() == 1 || first.isDone());
        other.signal();
        assertThat(first).succeedsWithin(REPEATED);
        CompletableFuture<Boolean> second = startWaiting(other, 1);
        disturbed.signal();
        assertThat(second).succeedsWithin(PROMPTLY);
    }

    /** One signal wakes one waiter, though the release that carries it is repeated. */
    @ParameterizedTest
    @MethodSource("losses")
    void aSignalCountsOnceThoughTheReplyIsLost(Kind kind, Loss loss) {
        use(kind);
        CompletableFuture<Boolean> first = startWaiting(other, 1);
        CompletableFuture<Boolean> second = startWaiting(side(kind, undisturbed()), 2);
        proxy().dropReplies(signalling(), 1, loss);
        signal(first, PROMPTLY);
        assertThat(dropped()).isEqualTo(1);
        assertStillWaits(second, 1);
        disturbed.signalAll();
        assertThat(second).succeedsWithin(PROMPTLY);
    }

    /** A release that never arrived brings its signal when it is repeated. */
    @ParameterizedTest
    @MethodSource("losses")
    void aSignalThatIsLostIsRepeated(Kind kind, Loss loss) {
        use(kind);
        CompletableFuture<Boolean> first = startWaiting(other, 1);
        CompletableFuture<Boolean> second = startWaiting(side(kind, undisturbed()), 2);
        proxy().dropRequests(signalling(), 1, loss);
        signal(first, REPEATED);
        assertWaitsForASignal(second);
    }

    /** A signal that is sent ahead, because other threads of the session go on, isn't done again by what follows. */
    @ParameterizedTest
    @MethodSource("losses")
    void aSignalSentAheadCountsOnceThoughTheReplyIsLost(Kind kind, Loss loss) {
        use(kind);
        CompletableFuture<Boolean> first = startWaiting(other, 1);
        CompletableFuture<Boolean> second = startWaiting(side(kind, undisturbed()), 2);
        Actor signaller = actor("signaller");
        Actor next = actor("next");
        signaller.run(disturbed.lock()::lock);
        CompletableFuture<Boolean> entered = next.begin(disturbed.lock()::lock);
        awaitQueued(disturbed.lock(), next);
        if (kind == Kind.FAIR) {
            awaitTickets(NAME, 1);
        }
        proxy().dropReplies(Requests.signal(NAME), 1, loss);
        signaller.run(() -> {
            disturbed.arrived().signal();
            disturbed.lock().unlock();
        });
        assertThat(entered).succeedsWithin(REPEATED);
        next.run(disturbed.lock()::unlock);
        assertThat(first).succeedsWithin(REPEATED);
        assertWaitsForASignal(second);
    }

    /** Who leaves because its time is over learns so in time, and takes no signal with it. */
    @ParameterizedTest
    @MethodSource("losses")
    void aTimeoutWhoseReplyIsLost(Kind kind, Loss loss) {
        use(kind);
        Duration time = Duration.ofSeconds(1);
        proxy().dropReplies(Requests.await(NAME), 1, loss);
        long begun = Monotonic.nanos();
        CompletableFuture<Boolean> leaving = actor("leaving").ask(() -> disturbed.await(time));
        awaitWaiters(1);
        CompletableFuture<Boolean> staying = startWaiting(other, 2);
        assertThat(leaving).succeedsWithin(time.plus(SHORT_TIMEOUT).plus(PROMPTLY));
        assertThat(leaving.join()).as("signalled").isFalse();
        assertThat(Duration.ofNanos(Monotonic.nanos() - begun)).isGreaterThanOrEqualTo(time);
        assertWaitsForASignal(staying);
    }

    /** Who is interrupted learns so in time, and takes no signal with it. */
    @ParameterizedTest
    @MethodSource("losses")
    void anInterruptWhoseReplyIsLost(Kind kind, Loss loss) {
        use(kind);
        Actor thread = actor("leaving");
        CompletableFuture<Boolean> leaving = startWaiting(disturbed, thread, 1);
        CompletableFuture<Boolean> staying = startWaiting(other, 2);
        proxy().dropReplies(Requests.await(NAME), 1, loss);
        thread.interrupt();
        assertThat(leaving)
                .failsWithin(SHORT_TIMEOUT.plus(PROMPTLY))
                .withThrowableThat()
                .withCauseInstanceOf(InterruptedException.class);
        assertWaitsForASignal(staying);
    }

    /** A signal that meets a leaving waiter, whose request is on its way, reaches it or the next one. */
    @ParameterizedTest
    @MethodSource("losses")
    void aSignalMeetsALeavingWaiterWhoseReplyIsLost(Kind kind, Loss loss) {
        use(kind);
        for (int round = 0; round < 4; round++) {
            Actor thread = actor("leaving-" + round);
            CompletableFuture<Boolean> leaving = startWaiting(disturbed, thread, 1);
            CompletableFuture<Boolean> staying = startWaiting(other, 2);
            Duration delay = Duration.ofMillis(round % 2 == 0 ? 0 : 150);
            proxy().delayRequests(Requests.await(NAME), delay, 1);
            proxy().dropReplies(Requests.await(NAME), 1, loss);
            thread.interrupt();
            actor("signaller-" + round).run(side(kind, undisturbed())::signal);
            await("left, or signalled").until(leaving::isDone);
            if (!leaving.isCompletedExceptionally()) {
                assertStillWaits(staying, 1);
                other.signal();
            }
            assertThat(staying).as("round %d", round).succeedsWithin(REPEATED);
            thread.run(() -> assertThat(Thread.interrupted()).isIn(true, false));
            proxy().heal();
        }
    }

    /** A waiter leaves whose registration has not been answered yet. */
    @ParameterizedTest
    @MethodSource("losses")
    void aTimeoutBeforeTheRegistrationIsConfirmed(Kind kind, Loss loss) {
        use(kind);
        proxy().dropReplies(registration(), 1, loss);
        CompletableFuture<Boolean> leaving = actor("leaving").ask(() -> disturbed.await(Duration.ofMillis(20)));
        assertThat(leaving).succeedsWithin(REPEATED);
        CompletableFuture<Boolean> staying = startWaiting(other, 1);
        assertWaitsForASignal(staying);
    }

    /** The mailbox is gone at the very moment of the signal. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aSignalFindsTheMailboxCutOff(Kind kind) {
        List<Side> sides = List.of(side(kind, session()), side(kind, session()));
        for (int round = 0; round < 10; round++) {
            CompletableFuture<Boolean> returned = startWaiting(sides.get(round % 2), 1);
            Side signaller = sides.get(1 - round % 2);
            killMailboxes();
            signaller.signal();
            assertThat(returned).as("round %d", round).succeedsWithin(PROMPTLY);
            awaitFree(NAME);
        }
    }

    /** No message arrives at all: the pulse brings signals. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void signalsWithoutMessages(Kind kind) {
        Side deaf = side(kind, session());
        Side other = side(kind, undisturbed());
        proxy().dropMessages(words -> Requests.isMail(words, deaf.session()), FaultProxy.ALWAYS);
        List<CompletableFuture<Boolean>> returned =
                List.of(startWaiting(deaf, 1), startWaiting(deaf, 2), startWaiting(other, 3), startWaiting(deaf, 4));
        other.signal();
        assertThat(returned.get(0)).succeedsWithin(PROMPTLY);
        other.signalAll();
        assertThat(CompletableFuture.allOf(returned.toArray(CompletableFuture<?>[]::new)))
                .succeedsWithin(PATIENCE);
    }

    /** A registration, repeated long after its waiter has returned, registers nobody. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aRegistrationThatComesAgain(Kind kind) {
        use(kind);
        long before = proxy().duplicated();
        proxy().duplicateRequests(registration(), Duration.ofMillis(800), 1);
        CompletableFuture<Boolean> first = startWaiting(disturbed, 1);
        other.signal();
        assertThat(first).succeedsWithin(PROMPTLY);
        CompletableFuture<Boolean> second = startWaiting(other, 1);
        await("duplicate").until(() -> proxy().duplicated() > before);
        assertWaitsForASignal(second);
    }

    /** A signal that comes again wakes nobody. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aSignalThatComesAgain(Kind kind) {
        use(kind);
        CompletableFuture<Boolean> first = startWaiting(other, 1);
        CompletableFuture<Boolean> second = startWaiting(other, 2);
        long before = proxy().duplicated();
        proxy().duplicateRequests(signalling(), Duration.ofMillis(100), 1);
        disturbed.signal();
        assertThat(first).succeedsWithin(PROMPTLY);
        await("duplicate").until(() -> proxy().duplicated() > before);
        assertWaitsForASignal(second);
    }

    /** A registration on its way for long, whose waiter has returned meanwhile, swallows no signal. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aRegistrationThatComesLate(Kind kind) {
        use(kind);
        Duration late = Duration.ofMillis(2_500);
        proxy().delayRequests(registration(), late);
        long begun = Monotonic.nanos();
        CompletableFuture<Boolean> first = actor("late").begin(disturbed::await);
        await("spurious return").until(() -> first.isDone() || waiters() == 1);
        proxy().heal();
        int ghosts = waiters();
        CompletableFuture<Boolean> second = actor("second").begin(other::await);
        await("second waits").until(() -> waiters() >= 1 && holder(NAME).isEmpty());
        await("late registration")
                .until(() -> Monotonic.nanos() - begun > late.plusMillis(300).toNanos());
        assertThat(ghosts).isLessThanOrEqualTo(1);
        Side signaller = side(kind, undisturbed());
        if (!first.isDone()) {
            signaller.signal();
        }
        if (!second.isDone()) {
            signaller.signal();
        }
        assertThat(first).succeedsWithin(REPEATED);
        assertThat(second).succeedsWithin(REPEATED);
    }
}
