package dev.interlock.internal.lock;

import dev.interlock.internal.Stake;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * For how long threads have been inside, or queued for the local half. The pulse looks once a second, so that threads
 * which lock read no clock for that. A queued thread may have been inside since the last look if another one is in
 * front now; so then its time begins anew.
 *
 * @param front the token of the thread that was inside at the last look; or {@link #LEADER} or {@link #NOBODY}
 * @param nanos since when
 * @param behind since when threads were queued behind that, by their ids
 */
record Sightings(long front, long nanos, Map<Long, Long> behind) {
    /** The leader waited. It is known by when it began to. */
    private static final long LEADER = -1;

    private static final long NOBODY = -2;

    static final Sightings NOTHING = new Sightings(NOBODY, 0, Map.of());

    /** Returns what is to be seen if a thread is inside. */
    static Sightings inside(long token, long now) {
        return new Sightings(token, now, Map.of());
    }

    /** Returns what is to be seen if the leader waits. */
    static Sightings waiting(long begunNanos) {
        return new Sightings(LEADER, begunNanos, Map.of());
    }

    private boolean isStill(Sightings inFront) {
        return front == inFront.front && (front != LEADER || nanos == inFront.nanos);
    }

    /** Looks again at the threads that have the local half or want it. */
    Sightings look(Sightings inFront, LocalLock local, long now) {
        boolean isStill = isStill(inFront);
        if (isStill && behind.isEmpty() && !local.isWanted()) {
            return this;
        }
        Map<Long, Long> queued = Map.of();
        if (local.isWanted()) {
            queued = new HashMap<>();
            for (Thread thread : local.queued()) {
                Long since = isStill ? behind.get(thread.getId()) : null;
                queued.put(thread.getId(), since == null ? Long.valueOf(now) : since);
            }
        }
        return new Sightings(inFront.front, isStill ? nanos : inFront.nanos, queued);
    }

    /** Returns for how long the thread has been inside that has this token. */
    long millisInside(long token, long now) {
        return front == token ? TimeUnit.NANOSECONDS.toMillis(now - nanos) : 0;
    }

    /** Returns for how long a thread has been queued behind what is in front now, or {@link Stake#UNKNOWN}. */
    long millisBehind(Sightings inFront, Thread thread, long now) {
        Long since = isStill(inFront) ? behind.get(thread.getId()) : null;
        return since == null ? Stake.UNKNOWN : TimeUnit.NANOSECONDS.toMillis(now - since);
    }
}
