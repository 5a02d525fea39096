package dev.interlock.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.internal.Suspensions;
import dev.interlock.internal.redis.Settings;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Until when a lease is valid, when it is renewed, and what a loss does. */
class LeaseTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final VirtualEnvironment environment = new VirtualEnvironment();
    private final long now = environment.nanoTime();
    private long suspendedNanos;
    private final Suspensions suspensions = new Suspensions(
            environment::nanoTime,
            () -> Instant.ofEpochSecond(0, environment.nanoTime() + suspendedNanos),
            SECOND / 20);
    private final Lease lease = new Lease(suspensions, now, now + 10 * SECOND);

    @Test
    void validityEndsBeforeTheLeaseByTheMarginForDrift() {
        assertThat(Lease.validUntil(now, 30_000) - now).isEqualTo(TimeUnit.MILLISECONDS.toNanos(29_500));
        assertThat(Lease.validUntil(now, 1_000) - now).isEqualTo(TimeUnit.MILLISECONDS.toNanos(950));
    }

    /** The readings are on both sides of the clock's overflow. */
    @Test
    void itIsValidUntilThen() {
        assertThat(now + 10 * SECOND).as("the clock overflows").isNegative();
        assertThat(lease.isValid(now)).isTrue();
        assertThat(lease.isValid(now + 10 * SECOND - 1)).isTrue();
        assertThat(lease.isValid(now + 10 * SECOND)).isFalse();
    }

    @Test
    void anOvertakenRenewalShortensNothing() {
        lease.extendTo(now + 2, now + 20 * SECOND);
        lease.extendTo(now + 1, now + 15 * SECOND);
        assertThat(lease.validUntilNanos()).isEqualTo(now + 20 * SECOND);
        lease.setValidUntil(now + SECOND);
        assertThat(lease.validUntilNanos()).isEqualTo(now + SECOND);
    }

    private void suspend() {
        suspendedNanos += 9 * SECOND;
        environment.advance(1);
        suspensions.look();
        environment.advance(1);
    }

    @Test
    void aSuspensionPutsItInDoubtUntilRedisIsAsked() {
        suspend();
        assertThat(lease.isInDoubt()).isTrue();
        assertThat(lease.isValid(now)).isFalse();
        assertThat(lease.isOver(now)).isFalse();

        lease.extendTo(now, now + 20 * SECOND);
        assertThat(lease.isInDoubt()).as("asked before").isTrue();
        assertThat(lease.validUntilNanos()).isEqualTo(now + 20 * SECOND);

        long asked = environment.nanoTime();
        lease.extendTo(asked, now + 5 * SECOND);
        assertThat(lease.isValid(now)).isTrue();
        assertThat(lease.validUntilNanos()).as("less is left").isEqualTo(now + 5 * SECOND);

        lease.extendTo(now, now + 30 * SECOND);
        assertThat(lease.validUntilNanos()).as("the answer of then is late").isEqualTo(now + 5 * SECOND);
        assertThat(lease.isInDoubt()).isFalse();
    }

    /** Its owner looks at the clocks when the answer comes. */
    @Test
    void anAnswerToWhatWasAskedBeforeASuspensionIsInDoubt() {
        suspendedNanos += 9 * SECOND;
        environment.advance(1);
        suspensions.look();
        lease.extendTo(now, now + 30 * SECOND);
        assertThat(lease.isInDoubt()).isTrue();
        assertThat(new Lease(suspensions, now, now + 30 * SECOND).isInDoubt()).isTrue();
    }

    @Test
    void itIsRenewedEveryThirdAndRetriedEverySecondAtMost() {
        Settings settings = environment.settings(SyncListener.NONE);
        assertThat(settings.renewalNanos()).isEqualTo(10 * SECOND);
        assertThat(settings.retryNanos()).isEqualTo(SECOND);
    }

    @Test
    void theFirstLossStays() {
        var first = new LeaseLostException("name", 1, "first");
        var second = new LeaseLostException("name", 1, "second");
        assertThat(lease.loss()).isNull();
        assertThat(lease.lose(first)).isNull();
        assertThat(lease.lose(second)).isSameAs(first);
        assertThat(lease.loss()).isSameAs(first);
        assertThat(lease.isValid(now)).as("though its time isn't over").isFalse();
    }
}
