package dev.interlock.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.internal.redis.Settings;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Until when a lease is valid, when it is renewed, and what a loss does. */
class LeaseTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final VirtualEnvironment environment = new VirtualEnvironment();
    private final long now = environment.nanoTime();
    private final Lease lease = new Lease(now + 10 * SECOND);

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
        lease.extendTo(now + 20 * SECOND);
        lease.extendTo(now + 15 * SECOND);
        assertThat(lease.validUntilNanos()).isEqualTo(now + 20 * SECOND);
        lease.setValidUntil(now + SECOND);
        assertThat(lease.validUntilNanos()).isEqualTo(now + SECOND);
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
