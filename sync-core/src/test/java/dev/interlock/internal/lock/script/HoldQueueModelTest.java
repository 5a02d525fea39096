package dev.interlock.internal.lock.script;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.SyncListener;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.HoldQueue.Held;
import dev.interlock.internal.session.FakeMailbox;
import dev.interlock.internal.session.FakeRunner;
import dev.interlock.internal.session.HoldTerms;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.internal.session.VirtualEnvironment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Threads hand a name that their session keeps to each other, and cancel requests, in the interleavings that Lincheck's
 * model checker looks at: a counter that only the holds protect is linearizable, and no request waits forever.
 */
@Tag("lincheck")
class HoldQueueModelTest {
    @Test
    void holdsExcludeEachOther() {
        options().check(Sound.class);
    }

    @Test
    void findsHoldThatIsReleasedTooEarly() {
        assertThatThrownBy(() -> options().minimizeFailedScenario(false).check(ReleasedTooEarly.class))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("Invalid execution results");
    }

    @Test
    void findsHoldThatIsNeverReleased() {
        assertThatThrownBy(() -> options().minimizeFailedScenario(false).check(NeverReleased.class))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("has hung");
    }

    private static ModelCheckingOptions options() {
        return new ModelCheckingOptions()
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .iterations(5)
                .invocationsPerIteration(150)
                .sequentialSpecification(Counter.class);
    }

    /** The expected behaviour. */
    public static final class Counter {
        private int count;

        /** Counts. */
        public int count() {
            return count++;
        }

        /** Counts. */
        public int countByStage() {
            return count++;
        }

        /** Has no effect. */
        public void cancel() {}
    }

    /** A counter that nothing but the holds protects, in a session that keeps the name. */
    public abstract static class Counted {
        private final HoldQueue queue;
        private final boolean releasesTooEarly;
        private final boolean releasesAll;
        private int count;

        Counted(boolean releasesTooEarly, boolean releasesAll) {
            this.releasesTooEarly = releasesTooEarly;
            this.releasesAll = releasesAll;
            FakeRunner redis = new FakeRunner();
            RedisSession session = new VirtualEnvironment().session(new SyncListener() {}, redis, new FakeMailbox());
            queue = new HoldQueue(session, "name");
            for (long token = 1; !isKept(redis, token); token++) {
                // Its policy keeps the name once requests have followed each other a few times.
            }
        }

        private boolean isKept(FakeRunner redis, long token) {
            int known = redis.sent().size();
            CompletableFuture<Held> asked = ask();
            if (redis.sent().size() == known) {
                asked.join().release();
                return true;
            }
            redis.last().reply().complete(List.of(token));
            asked.join().release();
            if (redis.sent().size() > known + 1) {
                redis.last().reply().complete(List.of(1L));
            }
            return false;
        }

        private CompletableFuture<Held> ask() {
            var terms = new HoldTerms(RemoteWait.FOREVER, RemoteLock.RENEWED, "", Runnable::run, Runnable::run);
            return queue.acquire(terms, Optional::orElseThrow);
        }

        private int countOnce(Held held) {
            if (releasesTooEarly) {
                held.release();
            }
            int counted = count++;
            held.release();
            return counted;
        }

        /** A thread waits for a hold, counts, and releases it. */
        @Operation
        public int count() {
            return countOnce(ask().join());
        }

        /** The thread that releases the hold before counts, and releases this one. */
        @Operation
        public int countByStage() {
            return ask().thenApply(this::countOnce).join();
        }

        /** A request is cancelled, or its hold released. */
        @Operation
        public void cancel() {
            CompletableFuture<Held> asked = ask();
            if (!asked.cancel(false) && releasesAll) {
                asked.join().release();
            }
        }
    }

    /** As it should be. */
    public static final class Sound extends Counted {
        /** Creates it. */
        public Sound() {
            super(false, true);
        }
    }

    /** A user that goes on after the release. */
    public static final class ReleasedTooEarly extends Counted {
        /** Creates it. */
        public ReleasedTooEarly() {
            super(true, true);
        }
    }

    /** A user that forgets a hold that it couldn't cancel. */
    public static final class NeverReleased extends Counted {
        /** Creates it. */
        public NeverReleased() {
            super(false, false);
        }
    }
}
