package dev.interlock.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.LockScriptTest;
import dev.interlock.internal.redis.Mail;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a session does for its stakes. */
class SessionTest extends LockScriptTest {
    /** Or a stranger could write about a ticket that a session is going to have. */
    @Test
    void sequencesBeginAnywhere() {
        Set<Long> beginnings = new HashSet<>();
        for (int i = 0; i < 5; i++) {
            RedisSession session = openSession(System::nanoTime);
            long first = session.nextSequence();
            assertThat(first % Session.SEQUENCE_STEP).isZero();
            assertThat(session.nextSequence()).isEqualTo(first + Session.SEQUENCE_STEP);
            assertThat(first).as("there is room left").isBetween(1L, 1L << 50);
            beginnings.add(first);
            session.close();
        }
        assertThat(beginnings).hasSize(5);
    }

    /** A release that is sent while the session is being closed is waited for, though its stake is let go. */
    @Test
    void closeWaitsForWhatIsSentMeanwhile() {
        RedisSession session = openSession(System::nanoTime);
        var confirmation = new CompletableFuture<Void>();
        var stake = new Participant() {
            @Override
            public void receive(Mail mail) {}

            @Override
            public void pulse() {}

            @Override
            public @Nullable Renewal keep(long now) {
                return null;
            }

            @Override
            public CompletableFuture<?> close() {
                session.expect(confirmation, confirmation);
                session.unpin("stake", this);
                CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS)
                        .execute(() -> confirmation.complete(null));
                return CompletableFuture.completedFuture(null);
            }
        };
        session.pin("stake", stake);

        session.close();

        assertThat(confirmation).isDone();
    }
}
