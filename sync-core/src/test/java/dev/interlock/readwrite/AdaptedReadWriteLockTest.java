package dev.interlock.readwrite;

import static dev.interlock.testing.Deviation.NOT_SERIALIZABLE;
import static dev.interlock.testing.Deviation.NO_CONDITIONS;
import static dev.interlock.testing.Deviation.READERS_OVERTAKE_REMOTE_WRITER;
import static dev.interlock.testing.Deviation.RELEASE_LINGERS;
import static dev.interlock.testing.Deviation.REMOTE_WAITER_NOT_QUEUED;
import static dev.interlock.testing.Deviation.TO_STRING_DIFFERS;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.TwoSessions;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.DisplayName;

/**
 * Runs the contract on an adapted lock. Redisson's own objects decide between two sessions, each with a client of its
 * own.
 */
@DisplayName("an adapted RReadWriteLock")
class AdaptedReadWriteLockTest extends ReadWriteLockContract {
    private final TwoSessions sessions = underTest(TwoSessions.usingClients());

    @Override
    protected ReentrantReadWriteLock newLock() {
        String name = TwoSessions.nextName();
        return sessions.rivals(
                sessions.mine().adapt(sessions.myClient().getReadWriteLock(name)),
                sessions.other().adapt(sessions.otherClient().getReadWriteLock(name)));
    }

    @Override
    protected Set<Deviation> deviations() {
        return EnumSet.of(
                NO_CONDITIONS,
                NOT_SERIALIZABLE,
                TO_STRING_DIFFERS,
                REMOTE_WAITER_NOT_QUEUED,
                READERS_OVERTAKE_REMOTE_WRITER,
                RELEASE_LINGERS);
    }
}
