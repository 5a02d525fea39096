package dev.interlock.internal.ratelimit;

import java.util.Map;
import java.util.TreeMap;

/** All that was ever taken, by its time. Each permit counts until a window later. */
final class SlidingModel extends LimitModel {
    private final TreeMap<Long, Long> taken = new TreeMap<>();

    SlidingModel(long permits, long window) {
        super(permits, window, permits);
    }

    /** No permits are given for a time before the last one. */
    private long from(long now) {
        return taken.isEmpty() ? now : Math.max(now, taken.lastKey());
    }

    private boolean hasRoom(long time, long wanted) {
        long counted = taken.tailMap(time - window, false).values().stream()
                .mapToLong(count -> count)
                .sum();
        return counted + wanted <= permits;
    }

    @Override
    long earliest(long now, long wanted) {
        long from = from(now);
        if (hasRoom(from, wanted)) {
            return from;
        }
        return taken.keySet().stream()
                .map(time -> time + window)
                .filter(time -> time > from && hasRoom(time, wanted))
                .findFirst()
                .orElseThrow();
    }

    @Override
    void take(long now, long time, long wanted) {
        taken.merge(time, wanted, Long::sum);
    }

    @Override
    long reset(long now) {
        Map.Entry<Long, Long> last = taken.lastEntry();
        return last == null ? 0 : Math.max(0, last.getKey() + window - now);
    }

    @Override
    void forget() {
        taken.clear();
    }
}
