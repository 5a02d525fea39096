package dev.interlock.lock.condition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Actor;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
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
}
