package dev.interlock.readwrite;

import static dev.interlock.testing.Deviation.NOT_SERIALIZABLE;
import static dev.interlock.testing.Deviation.NO_FIFO_ACROSS_SESSIONS;
import static dev.interlock.testing.Deviation.RELEASE_LINGERS;
import static dev.interlock.testing.Deviation.REMOTE_WAITER_NOT_QUEUED;
import static dev.interlock.testing.Deviation.SIGNAL_TRAVELS_WITH_RELEASE;
import static dev.interlock.testing.Deviation.TO_STRING_DIFFERS;
import static dev.interlock.testing.Deviation.TRYLOCK_MAY_NOT_BARGE;
import static java.util.Objects.requireNonNull;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.OtherVersion;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TwoSessions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Runs the contract on the read-write lock over our own scripts; a second session contends with it. */
@DisplayName("DistributedReadWriteLock")
class DistributedReadWriteLockTest {
    private static final Set<Deviation> DEVIATIONS = EnumSet.of(
            NOT_SERIALIZABLE,
            TO_STRING_DIFFERS,
            REMOTE_WAITER_NOT_QUEUED,
            TRYLOCK_MAY_NOT_BARGE,
            RELEASE_LINGERS,
            NO_FIFO_ACROSS_SESSIONS,
            SIGNAL_TRAVELS_WITH_RELEASE);
    private static final long KNOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private abstract static class OwnScripts extends ReadWriteLockContract {
        private final TwoSessions sessions = underTest(TwoSessions.connected());
        private final RedisServer redis = sessions.redis();
        private final Interlock mine = sessions.mine();
        private final Interlock other = sessions.other();
        private final List<String> names = new ArrayList<>();

        @Override
        protected ReentrantReadWriteLock newLock() {
            String name = TwoSessions.nextName();
            names.add(name);
            return sessions.rivals(lock(mine, name), lock(other, name));
        }

        abstract DistributedReadWriteLock lock(Interlock session, String name);

        @Override
        protected Set<Deviation> deviations() {
            return DEVIATIONS;
        }

        /** Besides, sessions that read know of a writer then, of whom Redis tells them. */
        @Override
        protected void awaitWaiting(ReentrantReadWriteLock lock, Thread waiter) {
            super.awaitWaiting(lock, waiter);
            String name = ((DistributedReadWriteLock) lock).getName();
            long begun = System.nanoTime();
            await(waiter.getName() + " is known").until(() -> {
                String queue = String.valueOf(
                        redis.command("ZRANGE", "interlock:queue:interlock:{" + name + "}:rw", "0", "-1"));
                // Nobody need know of who waits for those who read on what this session has for itself.
                boolean isLocal = System.nanoTime() - begun > KNOWN_NANOS
                        || (lock(mine, name).getReadLockCount() == 0
                                && lock(other, name).getReadLockCount() == 0);
                return queue.equals("[]")
                        ? isLocal
                        : (isKnown(lock(mine, name), mine, queue) && isKnown(lock(other, name), other, queue));
            });
        }

        private static boolean isKnown(ReentrantReadWriteLock lock, Interlock session, String queue) {
            return queue.contains(session.id())
                    || lock.getReadLockCount() == 0
                    || lock.toString().contains("wanted");
        }

        private static boolean isHeld(ReentrantReadWriteLock lock) {
            return lock.isWriteLocked() || lock.getReadLockCount() > 0;
        }

        /** What a test that failed has left behind isn't the fault of the next. */
        @BeforeEach
        void lookAround() {
            sessions.lookAround();
        }

        /** Nothing but what somebody holds who has died. */
        @AfterEach
        void nothingIsLeftButMarks() {
            List<String> held = names.stream()
                    .filter(name -> isHeld(lock(mine, name)) || isHeld(lock(other, name)))
                    .map(name -> "{" + name + "}")
                    .toList();
            names.clear();
            sessions.assertOnlyMarksAreNew(
                    ":(token|signals|mark:[^:]*):", key -> held.stream().anyMatch(key::contains));
        }
    }

    @Nested
    class Plain extends OwnScripts {
        @Override
        DistributedReadWriteLock lock(Interlock session, String name) {
            return session.readWriteLock(name);
        }
    }

    @Nested
    @Tag("proof")
    class Fair extends OwnScripts {
        @Override
        DistributedReadWriteLock lock(Interlock session, String name) {
            return session.fairReadWriteLock(name);
        }

        @Override
        protected boolean fair() {
            return true;
        }
    }

    /** A session of the last release contends. */
    @Nested
    @Tag("proof")
    class BesideTheLastRelease extends ReadWriteLockContract {
        private final TwoSessions sessions = underTest(TwoSessions.connected());
        private final OtherVersion other =
                OtherVersion.released(sessions.redis().url());
        private final Map<ReentrantReadWriteLock, ReentrantReadWriteLock> rivals = new ConcurrentHashMap<>();

        @Override
        protected ReentrantReadWriteLock newLock() {
            String name = TwoSessions.nextName();
            ReentrantReadWriteLock own = sessions.mine().readWriteLock(name);
            ReentrantReadWriteLock rival = other.readWriteLock(name);
            rivals.put(own, rival);
            rivals.put(rival, own);
            return sessions.rivals(own, rival);
        }

        @Override
        protected Set<Deviation> deviations() {
            return DEVIATIONS;
        }

        /** Besides, those who read know of a writer then, of whom Redis tells them. */
        @Override
        protected void awaitWaiting(ReentrantReadWriteLock lock, Thread waiter) {
            super.awaitWaiting(lock, waiter);
            if (lock.getReadLockCount() + requireNonNull(rivals.get(lock)).getReadLockCount() > 0) {
                LockSupport.parkNanos(KNOWN_NANOS);
            }
        }

        @AfterAll
        void close() {
            other.close();
        }
    }
}
