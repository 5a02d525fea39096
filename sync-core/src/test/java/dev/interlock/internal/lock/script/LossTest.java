package dev.interlock.internal.lock.script;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.SpareLock;
import dev.interlock.internal.session.RedisSession;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Reports of lost tenures. */
class LossTest extends LockScriptTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** The lease renewer abandons a lost tenure without the mutex, so maybe before the loss is reported. */
    @Test
    void aLossIsReportedThoughItsTenureIsAbandonedAlready() throws InterruptedException {
        RedisSession session = openSession(System::nanoTime);
        try {
            SpareLock half = new SpareLock(false);
            var halves = new Halves<>(half, false, () -> new SpareLock(false), System::nanoTime);
            var lock = new ScriptLock(session, keys.lock(), halves, false, ScriptLock.CONFIRMED);
            half.lock();
            assertThat(lock.enter(false, Long.MAX_VALUE, RemoteLock.RENEWED)).isTrue();
            CompletableFuture<LeaseLostException> told = new CompletableFuture<>();
            lock.onLost(told::complete);
            LockTenure tenure = Objects.requireNonNull(lock.view.tenure);
            lock.monitor.run((state, now) -> {
                state.lose(tenure, "it was deleted", now);
                lock.keep(now);
            });
            assertThat(told).succeedsWithin(PATIENCE);
        } finally {
            session.close();
        }
    }
}
