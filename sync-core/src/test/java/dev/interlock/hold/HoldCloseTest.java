package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.Actor;
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

    private CompletableFuture<Boolean> beginToClose(Interlock session, Duration await) {
        CompletableFuture<Boolean> closed = actor("closer").begin(() -> session.close(await));
        await("it refuses what is new").until(() -> refuses(session));
        return closed;
    }

    private static boolean refuses(Interlock session) {
        try {
            session.holds();
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    @Test
    @DisplayName("waits for them when it is closed, and refuses new ones meanwhile")
    void closeWaitsForHolds() {
        Interlock session = telling();
        Hold hold = acquired(session.holds().acquire(NAME));
        Hold several = acquired(session.holds().acquireAll(List.of("a", "b")));
        CompletableFuture<Hold> behind = session.holds().acquire(NAME);
        CompletableFuture<Hold> behindAll = session.holds().acquireAll(List.of(NAME, "c"));
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        assertFails(behind, IllegalStateException.class, ".*closed.*");
        assertFails(behindAll, IllegalStateException.class, ".*closed.*");
        hold.assertValid();
        released(hold);
        several.assertValid();
        assertWaits(closed);
        assertAvailable(NAME);
        released(several);
        assertThat(closed).succeedsWithin(PATIENCE);
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
    }

    @Test
    @DisplayName("refuses drop-in locks, too, while it waits for holds to be released")
    void closeRefusesLocksMeanwhile() {
        Interlock session = telling();
        Hold hold = acquired(session.holds().acquire(NAME));
        DistributedReentrantLock lock = session.lock("another");
        CompletableFuture<Boolean> closed = actor("closer").begin(() -> session.close(LONG));
        await("it refuses locks").until(() -> refuses(lock));
        assertThat(closed).isNotDone();
        hold.assertValid();
        released(hold);
        assertThat(closed).succeedsWithin(PATIENCE);
    }

    private static boolean refuses(DistributedReentrantLock lock) {
        try {
            if (lock.tryLock()) {
                lock.unlock();
            }
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
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

    @Test
    @DisplayName("tells only of a moment when it had neither holds nor locks")
    void awaitHoldersWaitsForBoth() {
        Interlock session = telling();
        Actor holder = actor("holder");
        DistributedReentrantLock lock = lock(session, "locked");
        holder.run(lock::lock);
        Hold hold = acquired(session.holds().acquire(NAME));
        CompletableFuture<Boolean> free = actor("waiter").ask(() -> session.awaitHolders(LONG));
        assertWaits(free);
        released(hold);
        assertWaits(free);
        Hold next = acquired(session.holds().acquire(NAME));
        holder.run(lock::unlock);
        assertWaits(free);
        released(next);
        assertThat(free).succeedsWithin(PATIENCE).isEqualTo(true);
    }
}
