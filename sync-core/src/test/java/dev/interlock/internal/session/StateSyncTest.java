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
    private static final class Waiting extends StateSync<String> {
        private static final Script PING = Script.load("session/ping");

        Waiting(RedisSession session) {
            super(session, "name", newLease(session), "waiting");
        }

        void askSoon(long millis) {
            resource.run((state, now) -> askIn(millis));
        }

        @Override
        protected Call command(String state, long version) {
            return PING.on(List.of(key));
        }

        @Override
        protected void answered(String state, List<Object> reply) {}

        @Override
        protected boolean refused(String state, Throwable failure) {
            return false;
        }

        @Override
        protected void mailed(String state, Mail mail) {}

        @Override
        protected CompletableFuture<?> closed(String state) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void carryOut(String state, long now) {}

        @Override
        protected String description(String state) {
            return state;
        }

        @Override
        protected boolean isWaiting(String state) {
            return true;
        }

        @Override
        protected boolean isLeased(String state) {
            return false;
        }
    }

    private void askIn(long millis) {
        sync.askSoon(millis);
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
