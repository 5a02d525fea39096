package dev.interlock.spring.boot;

import dev.interlock.Interlock;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Is up if Redis answers the session within one command time-out. */
final class InterlockHealthIndicator extends AbstractHealthIndicator {
    private final Interlock interlock;

    InterlockHealthIndicator(Interlock interlock) {
        super("Redis doesn't answer the session");
        this.interlock = interlock;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        builder.withDetail("session", interlock.sessionName())
                .withDetail("roundTrip", interlock.ping().toString())
                .up();
    }
}
