package dev.interlock.semaphore;

import static dev.interlock.testing.Deviation.COUNT_UNCHECKED;
import static dev.interlock.testing.Deviation.NOTHING_IS_ALWAYS_THERE;
import static dev.interlock.testing.Deviation.NOT_SERIALIZABLE;
import static dev.interlock.testing.Deviation.NO_FIFO_ACROSS_SESSIONS;
import static dev.interlock.testing.Deviation.REQUEST_LINGERS;
import static dev.interlock.testing.Deviation.RETURN_LINGERS;
import static dev.interlock.testing.Deviation.SMALL_WAITS_BEHIND_LARGE_OF_ITS_SESSION;
import static dev.interlock.testing.Deviation.TO_STRING_TELLS_NO_PERMITS;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.TwoSessions;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.DisplayName;
import org.redisson.api.RSemaphore;

/**
 * Runs the contract on an adapted semaphore. Redisson's own objects decide between two sessions, each with a client of
 * its own.
 */
@DisplayName("an adapted RSemaphore")
class AdaptedSemaphoreTest extends SemaphoreContract {
    private final TwoSessions sessions = underTest(TwoSessions.usingClients());

    @Override
    protected Semaphore newSemaphore(int permits) {
        String name = TwoSessions.nextName();
        RSemaphore semaphore = sessions.myClient().getSemaphore(name);
        semaphore.trySetPermits(permits);
        return sessions.rivals(
                sessions.mine().adapt(semaphore),
                sessions.other().adapt(sessions.otherClient().getSemaphore(name)));
    }

    @Override
    protected Set<Deviation> deviations() {
        return EnumSet.of(
                NOT_SERIALIZABLE,
                TO_STRING_TELLS_NO_PERMITS,
                NO_FIFO_ACROSS_SESSIONS,
                SMALL_WAITS_BEHIND_LARGE_OF_ITS_SESSION,
                NOTHING_IS_ALWAYS_THERE,
                COUNT_UNCHECKED,
                RETURN_LINGERS,
                REQUEST_LINGERS);
    }
}
