package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.testing.Actor;
import dev.interlock.testing.MovableTicker;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RedissonClient;

/**
 * A thread that has lost its lock and doesn't unlock, because it hangs or has ended, keeps nobody out: neither other
 * sessions nor the threads of its own. What it does with the lock later says that it has lost it, and changes nothing.
 */
class LostHoldTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final MovableTicker ticker = new MovableTicker();

    /** A lock as a thread uses it. */
    private record Subject(Lock lock, Runnable assertHeld, Predicate<Thread> queues, Runnable lockForLease) {
        static Subject of(DistributedReentrantLock lock) {
            return new Subject(
                    lock,
                    lock::assertHeld,
                    lock::hasQueuedThread,
                    () -> lock.lock(LEASE.toMillis(), TimeUnit.MILLISECONDS));
        }

        static Subject reading(DistributedReadWriteLock lock) {
            return new Subject(lock.readLock(), () -> lock.readLock().assertHeld(), lock::hasQueuedThread, () -> {});
        }

        static Subject writing(DistributedReadWriteLock lock) {
            return new Subject(lock.writeLock(), () -> lock.writeLock().assertHeld(), lock::hasQueuedThread, () -> {});
        }
    }

    /** The kinds of locks. */
    private enum Kind {
        PLAIN(true) {
            @Override
            Subject in(Interlock session, RedissonClient client) {
                return Subject.of(session.lock(NAME));
            }
        },
        RELEASED_AT_ONCE(true) {
            @Override
            Subject in(Interlock session, RedissonClient client) {
                return Subject.of(session.lock(NAME, LockOptions.releaseAtOnce()));
            }
        },
        CONFIRMED(true) {
            @Override
            Subject in(Interlock session, RedissonClient client) {
                return Subject.of(session.lock(NAME, LockOptions.confirmUnlock()));
            }
        },
        RETAINED(true) {
            @Override
            Subject in(Interlock session, RedissonClient client) {
                return Subject.of(session.lock(NAME, LockOptions.retain(Duration.ofSeconds(1))));
            }
        },
        FAIR(true) {
            @Override
            Subject in(Interlock session, RedissonClient client) {
                return Subject.of(session.fairLock(NAME));
            }
        },
        ADAPTED(true) {
            @Override
            Subject in(Interlock session, RedissonClient client) {
                return Subject.of(session.adapt(client.getLock(NAME)));
            }
        },
        WRITE(false) {
            @Override
            Subject in(Interlock session, RedissonClient client) {
                return Subject.writing(session.readWriteLock(NAME));
            }
        },
        FAIR_WRITE(false) {
            @Override
            Subject in(Interlock session, RedissonClient client) {
                return Subject.writing(session.fairReadWriteLock(NAME));
            }
        },
        READ(false) {
            @Override
            Subject in(Interlock session, RedissonClient client) {
                return Subject.reading(session.readWriteLock(NAME));
            }

            @Override
            Subject rival(Interlock session) {
                return Subject.writing(session.readWriteLock(NAME));
            }
        },
        FAIR_READ(false) {
            @Override
            Subject in(Interlock session, RedissonClient client) {
                return Subject.reading(session.fairReadWriteLock(NAME));
            }

            @Override
            Subject rival(Interlock session) {
                return Subject.writing(session.fairReadWriteLock(NAME));
            }
        };

        /** Whether its leases may have a fixed length. */
        private final boolean fixes;

        Kind(boolean fixes) {
            this.fixes = fixes;
        }

        /** Returns what a thread loses. */
        abstract Subject in(Interlock session, RedissonClient client);

        /** Returns what other threads of its session want, if that is not the same. */
        @Nullable
        Subject rival(Interlock session) {
            return null;
        }
    }

    static Stream<Kind> kindsWithFixedLeases() {
        return Stream.of(Kind.values()).filter(kind -> kind.fixes);
    }

    /** A lock of a session, and what other threads of that want. */
    private static final class Scene {
        private final Subject mine;
        private final Subject wanted;

        Scene(Subject mine, @Nullable Subject wanted) {
            this.mine = mine;
            this.wanted = wanted == null ? mine : wanted;
        }
    }

    private Scene scene(Kind kind) {
        RedissonClient client = client(server().url());
        Interlock session = over(client, builder -> builder.lease(LEASE).ticker(ticker));
        return new Scene(kind.in(session, client), kind.rival(session));
    }

    /** The owner's key is gone, as its next renewal finds out. */
    private void deleteOwner() {
        deleteKeys();
        ticker.advance(LEASE.dividedBy(2));
    }

    /** The lease is over, for Redis and for the session. */
    private void endLease() {
        deleteKeys();
        ticker.advance(LEASE.plusSeconds(1));
    }

    private void deleteKeys() {
        for (String key : server().keys()) {
            if (!key.matches(".*(mark|token|turns|queue|live|channel|sessions|mailbox).*")) {
                server().command("DEL", key);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void aThreadThatHangsKeepsNoneOutThatWaitsAlready(Kind kind) {
        Scene scene = scene(kind);
        Actor loser = actor("loser");
        Actor waiter = actor("waiter");
        loser.run(scene.mine.lock::lock);
        CompletableFuture<Boolean> entered = waiter.begin(scene.wanted.lock::lock);
        await("queued").until(() -> scene.wanted.queues.test(waiter.thread()));
        deleteOwner();
        assertThat(entered).succeedsWithin(PATIENCE);
        assertGoneForLoser(scene, loser, waiter);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void aThreadThatHangsKeepsNoneOutThatComesLater(Kind kind) {
        Scene scene = scene(kind);
        Actor loser = actor("loser");
        Actor later = actor("later");
        loser.run(scene.mine.lock::lock);
        deleteOwner();
        boolean entered = later.get(() -> scene.wanted.lock.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        assertThat(entered).isTrue();
        assertGoneForLoser(scene, loser, later);
    }

    @ParameterizedTest
    @MethodSource("kindsWithFixedLeases")
    void aThreadThatHangsPastAFixedLeaseKeepsNobodyOut(Kind kind) {
        Scene scene = scene(kind);
        Actor loser = actor("loser");
        Actor waiter = actor("waiter");
        loser.run(scene.mine.lockForLease::run);
        CompletableFuture<Boolean> entered = waiter.begin(scene.wanted.lock::lock);
        await("queued").until(() -> scene.wanted.queues.test(waiter.thread()));
        endLease();
        assertThat(entered).succeedsWithin(PATIENCE);
        assertGoneForLoser(scene, loser, waiter);
    }

    /** The idiom of those who use {@code RLock}: a lease, and no unlock. */
    @ParameterizedTest
    @MethodSource("kindsWithFixedLeases")
    void aThreadThatHasEndedWithoutUnlockingKeepsNobodyOut(Kind kind) throws InterruptedException {
        Scene scene = scene(kind);
        Thread gone = new Thread(scene.mine.lockForLease, "gone");
        gone.start();
        gone.join();
        endLease();
        Actor later = actor("later");
        boolean entered = later.get(() -> scene.wanted.lock.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        assertThat(entered).isTrue();
        later.run(scene.wanted.assertHeld::run);
        later.run(scene.wanted.lock::unlock);
    }

    private static boolean tries(Actor actor, Lock lock) {
        return actor.get(lock::tryLock);
    }

    /** What the loser does says that the lock is lost, and doesn't concern the thread that has it now. */
    private void assertGoneForLoser(Scene scene, Actor loser, Actor winner) {
        Lock lost = scene.mine.lock;
        Actor third = actor("third");
        assertThatThrownBy(() -> loser.run(scene.mine.assertHeld::run)).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> loser.run(lost::lock)).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> loser.get(lost::tryLock)).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> loser.get(() -> lost.tryLock(1, TimeUnit.SECONDS)))
                .isInstanceOf(LeaseLostException.class);
        winner.run(scene.wanted.assertHeld::run);
        assertThat(tries(third, lost)).as("entered beside another one").isFalse();
        assertThatThrownBy(() -> loser.run(lost::unlock)).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> loser.run(lost::unlock)).isInstanceOf(IllegalMonitorStateException.class);
        winner.run(scene.wanted.assertHeld::run);
        assertThat(tries(third, lost)).as("entered beside another one").isFalse();
        winner.run(scene.wanted.lock::unlock);
        third.run(lost::lock);
        third.run(scene.mine.assertHeld::run);
        // The superclass is the local half again: its final methods tell who waits.
        CompletableFuture<Boolean> behind = winner.begin(scene.wanted.lock::lock);
        await("queued").until(() -> behind.isDone() || scene.wanted.queues.test(winner.thread()));
        third.run(lost::unlock);
        assertThat(behind).succeedsWithin(PATIENCE);
        winner.run(scene.wanted.lock::unlock);
    }
}
