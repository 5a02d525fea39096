package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Outage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Holds of permits under faults of Redis. */
@DisplayName("a hold of permits, under faults of Redis,")
class PermitHoldFaultsTest extends HoldFaultsFixture {
    private static final String NAME = "seats";
    private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

    @Override
    protected List<String> serverArguments() {
        return Outage.serverArguments();
    }

    @Override
    protected String lasting() {
        return super.lasting() + "|semaphore";
    }

    private Interlock shortLived() {
        return session(builder -> builder.lease(SHORT_LEASE).redisTimeout(Duration.ofSeconds(2)));
    }

    private void begin(Outage outage) {
        outage.begin(List.of(server()), List.of(proxy()));
    }

    private void end(Outage outage) {
        outage.end(List.of(server()), List.of(proxy()));
    }

    @Test
    @DisplayName("isn't waited for any longer when Redis is silent for too long")
    void silenceEndsWaits() {
        Interlock session = shortLived();
        DistributedSemaphore semaphore = session.semaphore(NAME, 1);
        Hold hold = acquired(session.holds().acquirePermits(semaphore, 1));
        CompletableFuture<Hold> waiting = session.holds().acquirePermits(semaphore, 1);
        assertWaits(waiting);
        begin(Outage.STALLED);
        assertUnavailable(session.holds().tryAcquirePermits(semaphore, 1, Duration.ZERO));
        assertUnavailable(waiting);
        assertThat(hold.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        end(Outage.STALLED);
        assertFails(hold.release().toCompletableFuture(), LeaseLostException.class, ".*" + NAME + ".*");
    }

    @Test
    @DisplayName("whose release Redis doesn't confirm within a lease tells so")
    void unconfirmedReleaseIsTold() {
        Interlock session = shortLived();
        Hold hold = acquired(session.holds().acquirePermits(session.semaphore(NAME, 1), 1));
        begin(Outage.STALLED);
        CompletableFuture<Void> release = hold.release().toCompletableFuture();
        assertThat(release)
                .failsWithin(PATIENCE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfAny(RedisUnavailableException.class, LeaseLostException.class);
        end(Outage.STALLED);
    }

    @Test
    @DisplayName("that Redis refuses fails requests, and its release")
    void refusalIsTold() {
        Interlock session = session();
        DistributedSemaphore semaphore = session.semaphore(NAME, 2);
        Hold hold = acquired(session.holds().acquirePermits(semaphore, 2));
        Interlock elsewhere = undisturbed();
        Hold taken = acquired(elsewhere.holds().acquirePermits(elsewhere.semaphore("others", 1), 1));
        CompletableFuture<Hold> waiting = session.holds().acquirePermits(session.semaphore("others", 1), 1);
        assertWaits(waiting);
        server().command("ACL", "SETUSER", "default", "resetkeys");
        try {
            CompletableFuture<Void> release = hold.release().toCompletableFuture();
            assertFails(release, IllegalStateException.class, "Redis refuses semaphore '" + NAME + "'.*NOPERM.*");
            assertFails(waiting, IllegalStateException.class, "Redis refuses semaphore 'others'.*NOPERM.*");
        } finally {
            server().command("ACL", "SETUSER", "default", "allkeys");
        }
        released(taken);
        // What was refused is repeated.
        Interlock rival = undisturbed();
        released(acquired(rival.holds().acquirePermits(rival.semaphore(NAME, 2), 2)));
    }
}
