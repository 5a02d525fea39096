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
 *
 * @param front the token of the thread that was inside at the last look, or the wait of the leader; null if there was
 *     neither
 * @param nanos since when
 * @param behind since when threads were queued behind that, by their ids
 */
record Sightings(@Nullable Object front, long nanos, Map<Long, Long> behind) {
    static final Sightings NOTHING = new Sightings(null, 0, Map.of());

    private boolean isStill(@Nullable Object other) {
        return Objects.equals(front, other);
    }

    /** Looks again at the threads that have the local half or want it. */
    Sightings look(@Nullable Object nowInFront, LocalLock local, long now) {
        if (nowInFront == null && front == null) {
            return this;
        }
        Map<Long, Long> queued = Map.of();
        if (local.isWanted()) {
            queued = new HashMap<>();
            for (Thread thread : local.queued()) {
                Long since = isStill(nowInFront) ? behind.get(thread.getId()) : null;
                queued.put(thread.getId(), since == null ? Long.valueOf(now) : since);
            }
        }
        return new Sightings(nowInFront, isStill(nowInFront) ? nanos : now, queued);
    }

    /** Returns for how long what is in front now has been there. */
    long millisInFront(Object nowInFront, long now) {
        return isStill(nowInFront) ? TimeUnit.NANOSECONDS.toMillis(now - nanos) : 0;
    }

    /** Returns for how long a thread has been queued behind what is in front now, or {@link Stake#UNKNOWN}. */
    long millisBehind(@Nullable Object nowInFront, Thread thread, long now) {
        Long since = isStill(nowInFront) ? behind.get(thread.getId()) : null;
        return since == null ? Stake.UNKNOWN : TimeUnit.NANOSECONDS.toMillis(now - since);
    }
}
