package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the end of a session means to its holds, and what waits for them. */
@DisplayName("a session with holds")
class HoldCloseTest extends HoldFaultsFixture {
    private static final Duration LONG = Duration.ofMinutes(10);

    private Recorder recorder = new Recorder();

    @BeforeEach
    void hearOfThisTestOnly() {
        recorder = new Recorder();
    }

    private Interlock telling() {
        return session(builder -> builder.listener(recorder));
    }

    @Test
    @DisplayName("has them lost when it has waited for long enough")
    void closeLosesWhatIsStillHeld() {
        Interlock session = telling();
        Hold hold = acquired(session.holds().acquire(NAME));
        Hold several = acquired(session.holds().acquireAll(List.of("a", "b")));
        session.close(Duration.ofMillis(300));
        assertThat(holder(NAME)).isEmpty();
        for (Hold each : List.of(hold, several)) {
            assertThat(each.isValid()).isFalse();
            assertThat(each.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
            assertThatThrownBy(each::assertValid).isInstanceOf(LeaseLostException.class);
            assertFails(each.release().toCompletableFuture(), LeaseLostException.class, ".*");
        }
        assertAvailable(NAME);
    }

    @Test
    @DisplayName("waits for them by awaitHolders, and refuses nothing meanwhile")
    void awaitHoldersWaitsForHolds() {
        Interlock session = telling();
        Hold hold = acquired(session.holds().acquire(NAME));
        assertThat(session.awaitHolders(Duration.ofMillis(50))).isFalse();
        assertThat(session.heldLocks()).isEqualTo(1);
        CompletableFuture<Boolean> free = actor("waiter").ask(() -> session.awaitHolders(LONG));
        Hold next = acquired(session.holds().acquire("next"));
        released(hold);
        assertWaits(free);
        released(next);
        assertThat(free).succeedsWithin(PATIENCE).isEqualTo(true);
        assertThat(session.heldLocks()).isZero();
    }
}
