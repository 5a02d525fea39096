package dev.interlock.lifecycle;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** ping() tells how long a round trip takes, or that there is none. */
class PingTest extends FaultFixture {

    @Test
    void itTakesTheTimeOfARoundTrip() {
        Interlock session = session();
        long begun = Monotonic.nanos();
        Duration took = session.ping();
        assertThat(took).isPositive().isLessThanOrEqualTo(Duration.ofNanos(Monotonic.nanos() - begun));
    }

    @Test
    void aSilentRedisIsUnavailableAfterOneCommandTimeout() {
        Interlock session = impatient();
        session.ping();
        proxy().stall();
        long begun = Monotonic.nanos();
        assertThatThrownBy(session::ping)
                .isInstanceOf(RedisUnavailableException.class)
                .hasMessageContaining("has not answered a ping within " + SHORT_TIMEOUT.toMillis() + " ms");
        assertWithin(SHORT_TIMEOUT.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - begun));
        proxy().heal();
        await("it answers again").untilAsserted(() -> assertThat(session.ping()).isPositive());
    }

    @Test
    void aRedisThatIsGoneIsUnavailable() {
        Interlock session = impatient();
        proxy().refuse(true);
        proxy().cut();
        long begun = Monotonic.nanos();
        assertThatThrownBy(session::ping).isInstanceOf(RedisUnavailableException.class);
        assertWithin(SHORT_TIMEOUT.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - begun));
    }

    @Test
    void aClosedSessionIsNotPinged() {
        Interlock session = session();
        session.close();
        assertThatThrownBy(session::ping)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }
}
