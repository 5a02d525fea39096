package dev.interlock.lock.condition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Word that a thread has left its wait comes when that thread has the lock no more, and its release, which carries a
 * signal, is on its way. Nobody wants what is spoken of; but it is given up by that release, and nothing may overtake
 * it.
 */
class LateWordTest extends ConditionFixture {
    private static final Duration LATE = Duration.ofMillis(150);

    @ParameterizedTest
    @CsvSource({"PLAIN, s", "PLAIN, g", "FAIR, s", "FAIR, g"})
    void lateWordDoesNotOvertakeTheRelease(Kind kind, String word) {
        CompletableFuture<Boolean> waiting = startWaiting(side(kind, undisturbed()), 1);
        Side leaver = side(kind, session());
        Predicate<String> isSaid = text -> text.startsWith(word + " ");
        proxy().delayMessages(words -> Requests.isMail(words, leaver.session()) && isSaid.test(words.get(2)), LATE, 1);
        proxy().delayRequests(signalling(), LATE.multipliedBy(2), 1);

        CompletableFuture<Boolean> signalled = actor("leaver").ask(() -> leaveAndSignal(leaver));

        assertThat(waiting).as("signalled").succeedsWithin(PROMPTLY);
        assertThat(signalled).succeedsWithin(PROMPTLY).isEqualTo(true);
    }

    /** Leaves a wait for something else by time-out. Returns whether it did. */
    @SuppressWarnings("WaitNotInLoop") // nobody signals it
    private static boolean leaveAndSignal(Side side) throws InterruptedException {
        side.lock().lock();
        try {
            boolean hasLeft = side.lock().newCondition("never").awaitNanos(1_000_000) <= 0;
            side.arrived().signal();
            return hasLeft;
        } finally {
            side.lock().unlock();
        }
    }
}
