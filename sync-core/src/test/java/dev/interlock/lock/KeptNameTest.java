package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * A session keeps a name for a while that none of its threads is inside of, and gives it up by itself. Whatever it does
 * meanwhile, the lock is free: as the JDK's is, it is to be had by a thread that doesn't wait, and doesn't look locked.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeptNameTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** How many times the end of a retention is met. */
    private static final int ROUNDS = Integer.getInteger("interlock.kept.rounds", 200);

    private static final int MANY = Integer.getInteger("interlock.kept.rounds", 4_000);

    /** How long the sessions of this test keep what their threads have left. */
    private static final Duration SLICE = Duration.ofMillis(2);

    /** A way to have a lock without waiting. */
    private enum Attempt {
        TRY_LOCK {
            @Override
            boolean on(Lock lock) {
                return lock.tryLock();
            }
        },
        TRY_LOCK_FOR_NO_TIME {
            @Override
            boolean on(Lock lock) throws InterruptedException {
                return lock.tryLock(0, TimeUnit.NANOSECONDS);
            }
        },
        TRY_LOCK_FOR_LESS {
            @Override
            boolean on(Lock lock) throws InterruptedException {
                return lock.tryLock(-1, TimeUnit.SECONDS);
            }
        };

        abstract boolean on(Lock lock) throws InterruptedException;
    }

    /** A lock whose session keeps its name. */
    private enum Subject {
        RETAINED {
            @Override
            Kept of(Interlock session, RedissonClient client, String name) {
                return kept(session.lock(name, LockOptions.retain(SLICE)));
            }
        },
        ADAPTIVE {
            @Override
            Kept of(Interlock session, RedissonClient client, String name) {
                return kept(session.lock(name));
            }
        },
        READ {
            @Override
            Kept of(Interlock session, RedissonClient client, String name) {
                DistributedReadWriteLock lock = session.readWriteLock(name);
                return kept(lock, lock.readLock());
            }
        },
        WRITE {
            @Override
            Kept of(Interlock session, RedissonClient client, String name) {
                DistributedReadWriteLock lock = session.readWriteLock(name);
                return kept(lock, lock.writeLock());
            }
        },
        FAIR_READ {
            @Override
            Kept of(Interlock session, RedissonClient client, String name) {
                DistributedReadWriteLock lock = session.fairReadWriteLock(name);
                return kept(lock, lock.readLock());
            }
        },
        ADAPTED_READ {
            @Override
            Kept of(Interlock session, RedissonClient client, String name) {
                DistributedReadWriteLock lock = session.adapt(client.getReadWriteLock(name));
                return kept(lock, lock.readLock());
            }
        };

        abstract Kept of(Interlock session, RedissonClient client, String name);

        private static Kept kept(DistributedReentrantLock lock) {
            return new Kept(lock, lock, lock::isLocked);
        }

        private static Kept kept(DistributedReadWriteLock lock, Lock view) {
            // What a reader leaves is kept in any case.
            return new Kept(view, lock.readLock(), () -> lock.isWriteLocked() || lock.getReadLockCount() > 0);
        }
    }

    /**
     * A lock whose name is kept.
     *
     * @param lock what threads try to have
     * @param used what they have used before
     * @param looksLocked whether it seems that a thread is inside
     */
    private record Kept(Lock lock, Lock used, BooleanSupplier looksLocked) {
        void use() {
            use(() -> {});
        }

        /** Uses it, the last time for that. */
        void use(Runnable last) {
            for (int i = 0; i < 4; i++) {
                used.lock();
                if (i == 3) {
                    last.run();
                }
                used.unlock();
            }
        }
    }

    /** The clock, which the session reads while it gives something up. */
    private static final class Choreography implements LongSupplier {
        private final AtomicReference<@Nullable Runnable> meanwhile = new AtomicReference<>();

        void meanwhile(Runnable action) {
            meanwhile.set(action);
        }

        @Override
        public long getAsLong() {
            Runnable action = meanwhile.get();
            if (action != null && isGivingUp() && meanwhile.compareAndSet(action, null)) {
                action.run();
            }
            return Monotonic.nanos();
        }

        private static boolean isGivingUp() {
            return StackWalker.getInstance()
                    .walk(frames ->
                            frames.anyMatch(frame -> frame.getMethodName().equals("relinquish")));
        }
    }

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private final String name = keyspace.name("kept");
    private final Choreography clock = new Choreography();
    private final Interlock session = Interlock.builder()
            .uri(RedisServer.provided().url())
            .commandTimeout(PATIENCE)
            .handoffSlice(SLICE)
            .ticker(clock)
            .open();
    private final RedissonClient client = newClient();
    private final List<Actor> actors = new ArrayList<>();

    private static RedissonClient newClient() {
        Config config = new Config();
        config.useSingleServer().setAddress(RedisServer.provided().url());
        return Redisson.create(config);
    }

    @AfterEach
    void close() {
        actors.forEach(Actor::close);
        session.close();
        client.shutdown(0, 2, TimeUnit.SECONDS);
    }

    private Actor actor(String actorName) {
        Actor actor = new Actor(actorName);
        actors.add(actor);
        return actor;
    }

    private Kept kept(Subject subject) {
        return subject.of(session, client, name);
    }

    /** A thread comes at the very moment at which the session gives the name up. */
    @ParameterizedTest
    @EnumSource(names = "ADAPTIVE", mode = EnumSource.Mode.EXCLUDE) // On a busy machine that name may not be kept.
    void isFreeWhileItIsGivenUp(Subject subject) {
        Kept kept = kept(subject);
        Actor actor = actor("comes");
        for (Attempt attempt : Attempt.values()) {
            CompletableFuture<Boolean> looked = new CompletableFuture<>();
            CompletableFuture<Boolean> had = new CompletableFuture<>();
            CountDownLatch comes = new CountDownLatch(1);
            Runnable meanwhile = () -> {
                actor.begin(() -> {
                    comes.countDown();
                    looked.complete(kept.looksLocked().getAsBoolean());
                    had.complete(attempt.on(kept.lock()));
                });
                awaitStep(actor, comes, had);
            };
            // No earlier, since the name may also be given up between two uses.
            kept.use(() -> clock.meanwhile(meanwhile));

            assertThat(looked)
                    .as("%s: looks locked", attempt)
                    .succeedsWithin(PATIENCE)
                    .isEqualTo(false);
            assertThat(had).as("%s", attempt).succeedsWithin(PATIENCE).isEqualTo(true);
            actor.run(kept.lock()::unlock);
        }
    }

    // Returns when the thread is through, or waits for the one that gives the name up.
    private static void awaitStep(Actor actor, CountDownLatch comes, CompletableFuture<Boolean> done) {
        try {
            assertThat(comes.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        while (!done.isDone() && actor.thread().getState() == Thread.State.RUNNABLE) {
            Thread.onSpinWait();
        }
    }

    /** One thread comes at any moment, again and again. */
    @ParameterizedTest
    @EnumSource
    void isNeverRefusedToTheOnlyThread(Subject subject) throws Exception {
        assertThat(refusals(kept(subject), ROUNDS)).isZero();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("proof")
    void isNeverRefusedToTheOnlyThreadForLong(Subject subject) throws Exception {
        assertThat(refusals(kept(subject), MANY)).isZero();
    }

    private int refusals(Kept kept, int rounds) throws InterruptedException {
        Random random = new Random(1);
        int refused = 0;
        kept.use();
        for (int i = 0; i < rounds; i++) {
            for (Attempt attempt : Attempt.values()) {
                LockSupport.parkNanos(random.nextLong(SLICE.toNanos() * 3 / 2));
                if (attempt.on(kept.lock())) {
                    kept.lock().unlock();
                } else {
                    refused++;
                }
            }
            if (i % 8 == 0) {
                kept.use();
            }
        }
        return refused;
    }

    @Test
    void aTaskThatDoesNotWaitIsRun() throws InterruptedException, TimeoutException {
        Kept kept = kept(Subject.ADAPTIVE);
        Random random = new Random(1);
        int run = 0;
        for (int i = 0; i < ROUNDS; i++) {
            if (i % 8 == 0) {
                kept.use();
            }
            LockSupport.parkNanos(random.nextLong(SLICE.toNanos() * 3 / 2));
            run += session.execute(name, Duration.ZERO, () -> 1);
        }
        assertThat(run).isEqualTo(ROUNDS);
    }

    /** Readers that come together find each other's tenure, or that there is none. */
    @ParameterizedTest
    @EnumSource(names = {"READ", "FAIR_READ", "ADAPTED_READ"})
    void isNeverRefusedToReaders(Subject subject) {
        Kept kept = kept(subject);
        List<CompletableFuture<Integer>> readers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            readers.add(actor("reader " + i).ask(() -> refusals(kept, ROUNDS)));
        }
        readers.forEach(reader ->
                assertThat(reader).succeedsWithin(PATIENCE.multipliedBy(3)).isEqualTo(0));
    }

    /** A thread that looks while no other one is inside sees that. */
    @ParameterizedTest
    @EnumSource
    void doesNotLookLockedWhileNobodyIsInside(Subject subject) throws InterruptedException {
        Kept kept = kept(subject);
        Random random = new Random(1);
        // Odd while a thread may be inside.
        AtomicInteger visits = new AtomicInteger();
        Actor observer = actor("observer");
        CompletableFuture<Integer> seen = observer.ask(() -> {
            int wrong = 0;
            for (int visit = visits.get(); visit >= 0; visit = visits.get()) {
                boolean isLocked = kept.looksLocked().getAsBoolean();
                wrong += isLocked && visit % 2 == 0 && visits.get() == visit ? 1 : 0;
            }
            return wrong;
        });
        for (int i = 0; i < ROUNDS; i++) {
            visits.incrementAndGet();
            kept.use();
            visits.incrementAndGet();
            LockSupport.parkNanos(random.nextLong(SLICE.toNanos() * 3 / 2));
        }
        visits.set(-1);
        assertThat(seen).succeedsWithin(PATIENCE).isEqualTo(0);
    }
}
