package dev.interlock.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.SyncListener;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.redis.Settings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A failed renewal has to be cheap: in an outage a session has thousands of them. */
class FailedRenewalTest {
    private final List<String> failed = new ArrayList<>();
    private final AtomicInteger messages = new AtomicInteger();
    private final LeaseRenewer renewer = new LeaseRenewer(
            new Settings(
                    30_000,
                    0,
                    false,
                    false,
                    false,
                    30_000_000_000L,
                    3_000,
                    0,
                    "",
                    "test",
                    new Listeners(new SyncListener() {
                        @Override
                        public void renewalFailed(String name, long validNanos, Throwable cause) {
                            failed.add(name);
                        }
                    }),
                    () -> 0),
            (task, millis) -> () -> {},
            calls -> List.of(),
            Runnable::run);

    @Test
    void buildsNoMessageThatIsNotLogged() {
        IOException outage = new IOException() {
            @Override
            public String getMessage() {
                messages.incrementAndGet();
                return "cut off";
            }
        };
        renewer.renewalFailed("orders", 1, outage);
        assertThat(failed).containsExactly("orders");
        assertThat(messages).hasValue(0);
    }
}
