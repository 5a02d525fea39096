package dev.interlock.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.SyncListener;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** When a session asks by itself how a name stands. */
class StateSyncTest {
    private final VirtualEnvironment environment = new VirtualEnvironment();
    private final FakeRunner runner = new FakeRunner();
    private final RedisSession session = environment.session(SyncListener.NONE, runner, new FakeMailbox());
    private final Waiting sync = new Waiting(session);

    /** Threads wait. */
    private static final class Waiting extends StateSync {
        private static final Script PING = Script.load("session/ping");

        Waiting(RedisSession session) {
            super(session, "name");
        }

        @Override
        protected Call command(long version) {
            return PING.on(List.of(key));
        }

        @Override
        protected void answered(List<Object> reply) {}

        @Override
        protected void refused(Throwable failure) {}

        @Override
        protected void mailed(Mail mail) {}

        @Override
        protected CompletableFuture<?> closed() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        protected String description() {
            return "waiting";
        }

        @Override
        protected boolean isWaiting() {
            return true;
        }

        @Override
        protected boolean isLeased() {
            return false;
        }
    }

    private void askIn(long millis) {
        sync.mutex.lock();
        try {
            sync.askIn(millis);
        } finally {
            sync.mutex.unlock();
        }
    }

    @Test
    void itAsksOnceHoweverOftenItIsAboutTo() {
        int before = environment.taskCount();
        for (int i = 0; i < 100; i++) {
            askIn(300 + i);
        }
        assertThat(environment.taskCount()).isEqualTo(before + 1);
        askIn(200);
        assertThat(environment.taskCount()).isEqualTo(before + 1);
        environment.advance(199);
        assertThat(runner.sent()).isEmpty();
        environment.advance(1);
        assertThat(runner.sent()).hasSize(1);
        runner.last().reply().complete(List.of());
        environment.advance(1_000);
        assertThat(runner.sent()).hasSize(1);
    }

    @Test
    void itAsksAgainWhenItHasAsked() {
        askIn(200);
        environment.advance(200);
        runner.last().reply().complete(List.of());
        askIn(300);
        environment.advance(300);
        assertThat(runner.sent()).hasSize(2);
    }
}
