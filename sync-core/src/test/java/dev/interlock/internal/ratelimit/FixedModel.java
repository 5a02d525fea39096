package dev.interlock.internal.ratelimit;

import java.util.Map;
import java.util.TreeMap;

/** All windows that ever began, and what was taken from each. */
final class FixedModel extends LimitModel {
    private final TreeMap<Long, Long> taken = new TreeMap<>();

    FixedModel(long permits, long window) {
        super(permits, window, permits);
    }

    /** The windows that may be taken from: the latest if it isn't over, or a new one. */
    private Map.Entry<Long, Long> current(long now) {
        Map.Entry<Long, Long> last = taken.lastEntry();
        return last == null || now >= last.getKey() + window ? Map.entry(now, 0L) : last;
    }

    @Override
    long earliest(long now, long wanted) {
        Map.Entry<Long, Long> current = current(now);
        long start = current.getValue() + wanted <= permits ? current.getKey() : current.getKey() + window;
        return Math.max(now, start);
    }

    @Override
    void take(long now, long time, long wanted) {
        long start = current(now).getKey();
        taken.merge(time >= start + window ? start + window : start, wanted, Long::sum);
    }

    @Override
    long reset(long now) {
        Map.Entry<Long, Long> current = current(now);
        return current.getValue() == 0 ? 0 : current.getKey() + window - now;
    }

    @Override
    void forget() {
        taken.clear();
    }
}
