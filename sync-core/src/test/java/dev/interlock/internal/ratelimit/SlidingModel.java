package dev.interlock.internal.ratelimit;

import java.util.HashMap;
import java.util.Map;

/** What was taken in each window that ever was, by its number; when there is room is found by looking. */
final class SlidingModel extends LimitModel {
    private final Map<Long, Long> taken = new HashMap<>();

    /** No permits are given for a time before that. */
    private long latest = Long.MIN_VALUE;

    /** Where windows begin. They are moved by a clock that was set back. */
    private long origin;

    SlidingModel(long permits, long window) {
        super(permits, window, permits);
    }

    /** Windows begin as if time had begun there. */
    void beginAt(long time) {
        origin = time;
    }

    private long number(long time) {
        return Math.floorDiv(time - origin, window);
    }

    private long in(long number) {
        return taken.getOrDefault(number, 0L);
    }

    private boolean hasRoom(long time, long wanted) {
        long number = number(time);
        long passed = time - origin - number * window;
        long free = permits - in(number) - wanted;
        return free >= 0 && in(number - 1) * (window - passed) <= free * window;
    }

    @Override
    long earliest(long now, long wanted) {
        long from = Math.max(now, latest);
        for (long number = number(from); ; number++) {
            long low = Math.max(from, origin + number * window);
            long high = origin + (number + 1) * window - 1;
            if (!hasRoom(high, wanted)) {
                continue;
            }
            // In one window room only grows.
            while (low < high) {
                long middle = Math.floorDiv(low + high, 2);
                if (hasRoom(middle, wanted)) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            return low;
        }
    }

    @Override
    void take(long now, long time, long wanted) {
        taken.merge(number(time), wanted, Long::sum);
        latest = time;
    }

    @Override
    long reset(long now) {
        long number = number(Math.max(now, latest));
        long end = origin + (number + 1) * window;
        if (in(number) > 0) {
            return end + window - now;
        }
        return in(number - 1) > 0 ? end - now : 0;
    }

    @Override
    void forget() {
        taken.clear();
        latest = Long.MIN_VALUE;
    }
}
