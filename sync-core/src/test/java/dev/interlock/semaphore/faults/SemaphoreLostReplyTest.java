package dev.interlock.semaphore.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What a session says of a semaphore has the effect of being said once, though its answer is lost, or it arrives twice.
 */
class SemaphoreLostReplyTest {

    private abstract static class LostReplies extends SemaphoreFaultFixture {

        private Interlock session;
        private DistributedSemaphore semaphore;
        private Actor actor;

        @BeforeEach
        void use() {
            session = session();
            semaphore = of(session);
            actor = actor("actor");
        }

        private void loseAnswer(Interlock session) {
            proxy().dropReplies(saidBy(session), 1, Loss.CUT);
        }

        private void awaitLost() {
            await("lost").until(() -> dropped() > 0);
        }

        @Test
        void acquiringTakesOnce() {
            loseAnswer(session);

            CompletableFuture<Boolean> acquired = actor.begin(() -> semaphore.acquire(2));

            assertThat(acquired).succeedsWithin(REPEATED);
            awaitLost();
            assertThat(pool()).isEqualTo(PERMITS - 2);
            actor.run(() -> semaphore.release(2));
            assertPool(PERMITS);
        }

        @Test
        void tryingTakesOnceOrNot() {
            loseAnswer(session);

            boolean acquired = actor.get(() -> {
                try {
                    return semaphore.tryAcquire(2);
                } catch (RedisUnavailableException e) {
                    return false;
                }
            });

            awaitLost();
            assertPool(acquired ? PERMITS - 2 : PERMITS);
            if (acquired) {
                semaphore.release(2);
            }
        }

        @Test
        void drainingTakesOnceOrNot() {
            loseAnswer(session);

            int drained = actor.get(() -> {
                try {
                    return semaphore.drainPermits();
                } catch (RedisUnavailableException e) {
                    return 0;
                }
            });

            awaitLost();
            assertPool(PERMITS - drained);
            semaphore.release(drained);
        }

        @Test
        void releasingGivesOnce() {
            actor.run(() -> semaphore.acquire(3));
            loseAnswer(session);

            CompletableFuture<Boolean> released = actor.begin(() -> semaphore.release(2));

            assertThat(released).succeedsWithin(COMMAND_TIMEOUT.plus(SLACK));
            awaitLost();
            assertPool(2);
            actor.run(() -> semaphore.acquire(2));
            assertThat(pool()).isZero();
            actor.run(() -> semaphore.release(3));
        }

        @Test
        void enlargingAndReducingCountOnce() {
            loseAnswer(session);
            semaphore.release(4);
            awaitLost();
            assertPool(PERMITS + 4);
            loseAnswer(session);
            semaphore.reducePermits(2);
            await("lost, too").until(() -> dropped() > 1);
            assertPool(PERMITS + 2);
            endWith(PERMITS + 2);
        }

        /** A session that waits has one place in the queue, and keeps it. */
        @Test
        void placesInTheQueueSurvive() {
            DistributedSemaphore held = of(undisturbed());
            Interlock first = session();
            Interlock second = session();
            DistributedSemaphore one = of(first);
            DistributedSemaphore two = of(second);
            Actor early = actor("early");
            Actor late = actor("late");
            assertThat(held.tryAcquire(3)).isTrue();
            loseAnswer(first);
            CompletableFuture<Boolean> firstIn = queue(early, () -> one.acquire(3), 1);
            awaitLost();
            loseAnswer(second);
            CompletableFuture<Boolean> secondIn = queue(late, () -> two.acquire(2), 2);
            await("lost, too").until(() -> dropped() > 1);

            held.release(3);

            assertThat(firstIn).succeedsWithin(REPEATED);
            assertThat(secondIn).isNotDone();
            early.run(() -> one.release(3));
            assertThat(secondIn).succeedsWithin(REPEATED);
            late.run(() -> two.release(2));
        }

        /** All that a session has said, once more when it's all over, and again while it has permits anew. */
        @Test
        void lateDuplicatesChangeNothing() {
            long before = proxy().duplicated();
            proxy().duplicateRequests(saidBy(session), Duration.ofMillis(700), FaultProxy.ALWAYS);
            actor.run(() -> {
                semaphore.acquire(2);
                semaphore.release();
                assertThat(semaphore.tryAcquire(2)).isTrue();
                semaphore.release(3);
                assertThat(semaphore.drainPermits()).isEqualTo(3);
                semaphore.release(3);
                semaphore.release(2);
                semaphore.reducePermits(2);
                semaphore.acquire(2);
            });
            int said = 8;

            await("duplicates").until(() -> proxy().duplicated() - before >= said);

            assertThat(pool()).isEqualTo(1);
            proxy().heal();
            actor.run(() -> semaphore.release(2));
            assertPool(PERMITS);
        }

        /** The commands of a session arrive again when it is closed and its successor has the permits. */
        @Test
        void duplicatesOfAClosedSessionChangeNothing() {
            long before = proxy().duplicated();
            proxy().duplicateRequests(saidBy(session), Duration.ofMillis(700), FaultProxy.ALWAYS);
            actor.run(() -> semaphore.acquire(2));
            actor.run(() -> semaphore.release(2));
            session.close();
            DistributedSemaphore successor = of(undisturbed());
            actor.run(() -> successor.acquire(3));

            await("duplicates").until(() -> proxy().duplicated() - before >= 2);

            assertThat(pool()).isZero();
            assertThat(waiting()).isZero();
            actor.run(() -> successor.release(3));
        }
    }

    @Nested
    class Cut extends LostReplies {}

    @Nested
    @Tag("proof")
    class Unowned extends LostReplies {
        @Override
        boolean owned() {
            return false;
        }
    }
}
