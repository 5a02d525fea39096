package dev.interlock.internal.lock;

import dev.interlock.internal.Stake;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * For how long threads have been inside, or queued for the local half. The pulse looks once a second, so that threads
 * which lock read no clock for that. A queued thread may have been inside since the last look if another one is in
 * front now; so then its time begins anew.
 */
final class Sightings {
    /**
     * The last look.
     *
     * @param front the token of the thread that was inside, or the wait of the leader; null if there was neither
     * @param nanos since when
     * @param behind since when threads were queued behind that, by their ids
     */
    private record Look(@Nullable Object front, long nanos, Map<Long, Long> behind) {
        boolean isStill(@Nullable Object other) {
            return Objects.equals(front, other);
        }
    }

    private static final Look NOTHING = new Look(null, 0, Map.of());

    private volatile Look last = NOTHING;

    /** Looks at the threads that have the local half or want it. */
    void look(@Nullable Object front, LocalLock local, long now) {
        Look before = last;
        if (front == null && before.front == null) {
            return;
        }
        Map<Long, Long> behind = Map.of();
        if (local.isWanted()) {
            behind = new HashMap<>();
            for (Thread thread : local.queued()) {
                Long since = before.isStill(front) ? before.behind.get(thread.getId()) : null;
                behind.put(thread.getId(), since == null ? Long.valueOf(now) : since);
            }
        }
        last = new Look(front, before.isStill(front) ? before.nanos : now, behind);
    }

    /** Returns for how long what is in front now has been there. */
    long millisInFront(Object front, long now) {
        Look seen = last;
        return seen.isStill(front) ? TimeUnit.NANOSECONDS.toMillis(now - seen.nanos) : 0;
    }

    /** Returns for how long a thread has been queued behind what is in front now, or {@link Stake#UNKNOWN}. */
    long millisBehind(@Nullable Object front, Thread thread, long now) {
        Look seen = last;
        Long since = seen.isStill(front) ? seen.behind.get(thread.getId()) : null;
        return since == null ? Stake.UNKNOWN : TimeUnit.NANOSECONDS.toMillis(now - since);
    }
}
