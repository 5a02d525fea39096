package dev.interlock.semaphore;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.TwoSessions;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.redisson.Redisson;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Runs the contract on an adapted semaphore. Redisson's own objects decide between two sessions, each with a client of
 * its own.
 */
@DisplayName("an adapted RSemaphore")
class AdaptedSemaphoreTest extends SemaphoreContract {
    private final TwoSessions sessions = TwoSessions.usingClients();

    @Override
    protected Semaphore newSemaphore(int permits) {
        String name = TwoSessions.nextName();
        RSemaphore semaphore = sessions.myClient().getSemaphore(name);
        semaphore.trySetPermits(permits);
        return sessions.rivals(sessions.mine().adapt(semaphore), sessions.other().adapt(sessions.otherClient().getSemaphore(name)));
    }

    @Override
    protected Optional<Semaphore> rivalOf(Semaphore semaphore) {
        return sessions.rivalOf(semaphore);
    }

    @Override
    protected Set<Deviation> deviations() {
        return EnumSet.of(
                Deviation.NOT_SERIALIZABLE,
                Deviation.TO_STRING_TELLS_NO_PERMITS,
                Deviation.NO_FIFO_ACROSS_SESSIONS,
                Deviation.SMALL_WAITS_BEHIND_LARGE_OF_ITS_SESSION,
                Deviation.NOTHING_IS_ALWAYS_THERE,
                Deviation.COUNT_UNCHECKED,
                Deviation.RETURN_LINGERS,
                Deviation.REQUEST_LINGERS);
    }

    @AfterAll
    void close() {
        sessions.close();
    }
}
