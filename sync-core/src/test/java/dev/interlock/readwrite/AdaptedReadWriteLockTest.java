package dev.interlock.readwrite;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.TwoSessions;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Runs the contract on an adapted lock. Redisson's own objects decide between two sessions, each with a client of its
 * own.
 */
@DisplayName("an adapted RReadWriteLock")
class AdaptedReadWriteLockTest extends ReadWriteLockContract {
    private final TwoSessions sessions = TwoSessions.usingClients();

    @Override
    protected ReentrantReadWriteLock newLock() {
        String name = TwoSessions.nextName();
        return sessions.rivals(
                sessions.mine().adapt(sessions.myClient().getReadWriteLock(name)), sessions.other().adapt(sessions.otherClient().getReadWriteLock(name)));
    }

    @Override
    protected Optional<ReentrantReadWriteLock> rivalOf(ReentrantReadWriteLock lock) {
        return sessions.rivalOf(lock);
    }

    @Override
    protected Set<Deviation> deviations() {
        return EnumSet.of(
                Deviation.NO_CONDITIONS,
                Deviation.NOT_SERIALIZABLE,
                Deviation.TO_STRING_DIFFERS,
                Deviation.REMOTE_WAITER_NOT_QUEUED,
                Deviation.READERS_OVERTAKE_REMOTE_WRITER,
                Deviation.RELEASE_LINGERS);
    }

    @AfterAll
    void close() {
        sessions.close();
    }
}
