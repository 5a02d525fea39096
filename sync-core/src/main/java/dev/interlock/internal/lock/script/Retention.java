package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.script.LockTenure.Alarm;
import dev.interlock.internal.session.RedisSession;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a name that no thread of the session wants, so that the next one needs no round trip: for a fixed time; or,
 * where that has paid lately, for the hand-off slice.
 *
 * <p>A score tells whether it pays. It grows when a thread takes a name that was kept; also when one gets a name again
 * that the session gave up less than a slice ago and that nobody else has had since, as Redis tells. It falls when a
 * name is taken again later, or after others; and when it was kept in vain, to nothing if another session wanted it.
 * While plain {@code RLock} clients are about, which can't ask for a name, it is not kept.
 *
 * <p>Used by the thread that has taken the tenure, or has closed it. Readers that come together to what a writer has
 * left may count as one.
 */
final class Retention {
    private static final int LEAST_SCORE = 3;

    private static final int MOST_SCORE = 8;

    private static final long MOST_MILLIS = 10;

    private final RedisSession session;
    private final ScriptLock lock;
    private final LocalLock local;
    private final long retainMillis;
    private int score;
    private boolean isKept;

    /** Whether the last tenure was given up by the thread that used it, and when that was. */
    private boolean isGivenUp;

    private long givenUpNanos;

    /** When a thread last left a name that was kept. */
    private volatile long idleSinceNanos;

    /**
     * Creates it.
     *
     * @param retainMillis for how long a name is kept, or {@link ScriptLock#ADAPTIVE}
     */
    Retention(RedisSession session, ScriptLock lock, LocalLock local, long retainMillis) {
        this.session = session;
        this.lock = lock;
        this.local = local;
        this.retainMillis = retainMillis;
    }

    private long adaptiveMillis() {
        boolean isAdaptive =
                retainMillis == ScriptLock.ADAPTIVE && session.settings().adaptiveRetention();
        return isAdaptive ? Math.min(MOST_MILLIS, sliceMillis()) : 0;
    }

    private long sliceMillis() {
        return TimeUnit.NANOSECONDS.toMillis(session.settings().handoffSliceNanos());
    }

    // ---- the name

    /** A thread leaves a name that no other one waits for. Returns whether it is kept. */
    boolean keep(LockTenure current, long now) {
        boolean pays = score >= LEAST_SCORE && !lock.view.hasNeighbours(now);
        isKept = keep(current, retainMillis > 0 ? retainMillis : pays ? adaptiveMillis() : 0, now);
        return isKept;
    }

    /** What readers leave is kept for a slice in any case, since others often follow. */
    void keepForReaders(LockTenure current, long now) {
        keep(current, sliceMillis(), now);
    }

    private boolean keep(LockTenure current, long millis, long now) {
        if (millis == 0 || current.demand || !current.renewed || lock.view.isAnySignalDue || session.isClosing()) {
            return false;
        }
        idleSinceNanos = now;
        if (!current.retained) {
            current.retained = true;
            current.setAlarm(Alarm.RETENTION, () -> end(current, millis), millis);
        }
        return true;
    }

    private void end(LockTenure current, long millis) {
        if (lock.view.tenure != current) {
            return;
        }
        current.retained = false;
        if (local.isHeld()) {
            // The thread inside decides anew when it leaves.
            return;
        }
        long idleMillis = TimeUnit.NANOSECONDS.toMillis(session.now() - idleSinceNanos);
        if (idleMillis < millis) {
            current.retained = true;
            current.setAlarm(Alarm.RETENTION, () -> end(current, millis), millis - idleMillis);
        } else {
            lock.cleanUp();
        }
    }

    // ---- the score

    private void paid() {
        score = Math.min(score + 1, MOST_SCORE);
    }

    /** A thread has entered without a round trip. */
    void taken() {
        if (isKept) {
            isKept = false;
            paid();
        }
    }

    /** A thread has entered on a tenure that the session has just got. */
    void begun(@Nullable LockTenure granted, long now) {
        isKept = false;
        boolean isSoon = now - givenUpNanos < TimeUnit.MILLISECONDS.toNanos(adaptiveMillis());
        if (isGivenUp && isSoon && granted != null && granted.isNext) {
            paid();
        } else {
            // It wouldn't have paid; what counts is that it does several times in a row.
            score /= 2;
        }
        isGivenUp = false;
    }

    /**
     * A tenure is given up: by the thread that used it, or because it was kept in vain.
     *
     * @param isAsked whether another session has asked whether a thread is inside
     */
    void ended(LockTenure current, boolean isAsked, long now) {
        if (current.foreignDemand) {
            lock.view.neighboursSeen(now);
        }
        if (isKept) {
            isKept = false;
            score = current.demand || isAsked ? 0 : score / 2;
        } else {
            isGivenUp = true;
            givenUpNanos = now;
        }
    }
}
