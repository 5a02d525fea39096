package dev.interlock.semaphore;

import static dev.interlock.testing.Deviation.NOTHING_IS_ALWAYS_THERE;
import static dev.interlock.testing.Deviation.NOT_SERIALIZABLE;
import static dev.interlock.testing.Deviation.NO_FIFO_ACROSS_SESSIONS;
import static dev.interlock.testing.Deviation.RETURN_LINGERS;
import static dev.interlock.testing.Deviation.SMALL_WAITS_BEHIND_LARGE;
import static dev.interlock.testing.Deviation.TO_STRING_DIFFERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.SemaphoreOptions;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.OtherVersion;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TwoSessions;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Runs the contract on the semaphore over our own scripts; a second session contends with it. */
@DisplayName("DistributedSemaphore")
class DistributedSemaphoreTest {
    private static final Set<Deviation> DEVIATIONS = EnumSet.of(
            NOT_SERIALIZABLE,
            TO_STRING_DIFFERS,
            NO_FIFO_ACROSS_SESSIONS,
            SMALL_WAITS_BEHIND_LARGE,
            NOTHING_IS_ALWAYS_THERE,
            RETURN_LINGERS);

    private abstract static class OwnScripts extends SemaphoreContract {
        private final TwoSessions sessions = underTest(TwoSessions.connected());
        private final RedisServer redis = sessions.redis();
        private final Interlock mine = sessions.mine();
        private final Interlock other = sessions.other();

        abstract DistributedSemaphore of(Interlock session, String name, int permits);

        @Override
        protected Semaphore newSemaphore(int permits) {
            String name = TwoSessions.nextName();
            return sessions.rivals(of(mine, name, permits), of(other, name, permits));
        }

        @Override
        protected Set<Deviation> deviations() {
            return DEVIATIONS;
        }

        /** Besides, its session has a place in the queue then. */
        @Override
        protected void awaitWaiting(Semaphore semaphore, Thread waiter) {
            super.awaitWaiting(semaphore, waiter);
            String name = ((DistributedSemaphore) semaphore).getName();
            Interlock session = sessions.isMine(semaphore) ? mine : other;
            await(waiter.getName() + " is known")
                    .until(() -> String.valueOf(
                                    redis.command("ZRANGE", "interlock:{" + name + "}:semaphore-queue", "0", "-1"))
                            .contains(session.id()));
        }

        @AfterEach
        void nobodyIsLeftInTheQueue() {
            await("what is left").untilAsserted(() -> {
                assertThat(redis.keys("*}:semaphore-queue")).isEmpty();
                assertThat(redis.ttlMillis()).as("TTL of each key").doesNotContainValue(-1L);
            });
        }
    }

    @Nested
    class Plain extends OwnScripts {
        @Override
        DistributedSemaphore of(Interlock session, String name, int permits) {
            return session.semaphore(name, permits);
        }
    }

    @Nested
    @Tag("proof")
    class Fair extends OwnScripts {
        @Override
        DistributedSemaphore of(Interlock session, String name, int permits) {
            return session.semaphore(name, permits, SemaphoreOptions.fair());
        }

        @Override
        protected boolean fair() {
            return true;
        }
    }

    @Nested
    @Tag("proof")
    class Unowned extends OwnScripts {
        @Override
        DistributedSemaphore of(Interlock session, String name, int permits) {
            return session.semaphore(name, permits, SemaphoreOptions.unowned());
        }
    }

    /** A session of the last release contends. */
    @Nested
    @Tag("proof")
    class BesideTheLastRelease extends SemaphoreContract {
        private final TwoSessions sessions = underTest(TwoSessions.connected());
        private final OtherVersion other =
                OtherVersion.released(sessions.redis().url());

        @Override
        protected Semaphore newSemaphore(int permits) {
            String name = TwoSessions.nextName();
            return sessions.rivals(sessions.mine().semaphore(name, permits), other.semaphore(name, permits));
        }

        @Override
        protected Set<Deviation> deviations() {
            return DEVIATIONS;
        }

        /** Besides, some session has a place in the queue then. */
        @Override
        protected void awaitWaiting(Semaphore semaphore, Thread waiter) {
            super.awaitWaiting(semaphore, waiter);
            await(waiter.getName() + " is known")
                    .until(() -> !sessions.redis().keys("*}:semaphore-queue").isEmpty());
        }

        @AfterAll
        void close() {
            other.close();
        }
    }
}
