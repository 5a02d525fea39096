package dev.interlock.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.LeaseLostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whether a thread is inside on a tenure, and whether one may enter. */
class TenureTest {
    private static final int ROUNDS = 200_000;

    /** A tenure of which each thread that enters draws a token. */
    private static final class Drawn extends Tenure {
        private final int tokens;
        private int drawn;
        private volatile boolean isLost;

        /** Whether its name is somebody else's by now. */
        private volatile boolean isGivenUp;

        Drawn(int tokens) {
            this.tokens = tokens;
        }

        @Override
        public boolean isUsable(long nowNanos) {
            return !isLost;
        }

        @Override
        protected boolean draw() {
            return drawn++ < tokens;
        }

        @Override
        public @Nullable LeaseLostException loss() {
            return null;
        }

        @Override
        protected long freeNanos() {
            return 0;
        }
    }

    private final Drawn tenure = new Drawn(2);

    @Test
    void aThreadIsInsideUntilItLeaves() {
        assertThat(tenure.isTaken()).isFalse();
        assertThat(tenure.take(0)).isTrue();
        assertThat(tenure.isTaken()).isTrue();
        tenure.free();
        assertThat(tenure.isTaken()).isFalse();
    }

    @Test
    void nobodyEntersWhatIsClosed() {
        tenure.close();
        assertThat(tenure.take(0)).isFalse();
        assertThat(tenure.isTaken()).isFalse();
        assertThat(tenure.isClosed()).isTrue();
        tenure.reopen();
        assertThat(tenure.take(0)).isTrue();
        assertThat(tenure.drawn).as("tokens drawn").isEqualTo(1);
    }

    @Test
    void nobodyEntersWhatIsLostOrUsedUp() {
        assertThat(tenure.take(0)).isTrue();
        assertThat(tenure.take(0)).isTrue();
        tenure.free();
        assertThat(tenure.take(0)).as("no token is left").isFalse();
        assertThat(tenure.isTaken()).isFalse();
        Drawn lost = new Drawn(1);
        lost.isLost = true;
        assertThat(lost.take(0)).isFalse();
        assertThat(lost.isTaken()).isFalse();
    }

    /** A thread has the local half when it looks; the one that closes looks for that. */
    @Test
    void whatAThreadIsInsideOfIsNotGivenUp() {
        ReentrantLock local = new ReentrantLock();
        List<Drawn> tenures = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            tenures.add(new Drawn(1));
        }
        CompletableFuture<Integer> met = CompletableFuture.supplyAsync(() -> {
            int wrong = 0;
            for (Drawn each : tenures) {
                local.lock();
                try {
                    if (each.take(0)) {
                        wrong += each.isGivenUp ? 1 : 0;
                        each.free();
                    }
                } finally {
                    local.unlock();
                }
            }
            return wrong;
        });
        for (Drawn each : tenures) {
            each.close();
            if (local.isLocked()) {
                each.reopen();
            } else {
                each.isGivenUp = true;
            }
        }
        assertThat(met.join()).isZero();
    }
}
