package dev.interlock.examples.ratelimit;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/**
 * Counts the requests that this instance has admitted and refused in each second of the last minute, by policy and key.
 * Strangers choose the keys: so only the latest few are kept.
 */
final class Traffic {

    static final int SECONDS = 60;
    static final int MOST_KEYS = 12;

    private record Key(String policy, String client) {}

    /**
     * The requests with one key.
     *
     * @param admitted how many in each second, the current one last
     * @param refused likewise
     */
    record Series(String policy, String key, List<Integer> admitted, List<Integer> refused) {}

    private final LongSupplier nanos;
    private final Map<Key, Minute> latest = new LinkedHashMap<>();

    Traffic(LongSupplier nanos) {
        this.nanos = nanos;
    }

    synchronized void count(String policy, String client, boolean isAdmitted) {
        long now = nowSeconds();
        var key = new Key(policy, client);
        Minute minute = latest.remove(key);
        if (minute == null) {
            minute = new Minute(now);
        }
        latest.put(key, minute); // at the end
        if (latest.size() > MOST_KEYS) {
            latest.remove(latest.keySet().iterator().next());
        }
        minute.count(now, isAdmitted);
    }

    /** The keys that had a request in the last minute, in alphabetical order. */
    synchronized List<Series> series() {
        long now = nowSeconds();
        latest.values().removeIf(minute -> minute.isOver(now));
        return latest.entrySet().stream()
                .map(entry -> series(entry.getKey(), entry.getValue(), now))
                .sorted(Comparator.comparing(Series::policy).thenComparing(Series::key))
                .toList();
    }

    private static Series series(Key key, Minute minute, long now) {
        return new Series(
                key.policy, key.client, minute.until(now, minute.admitted), minute.until(now, minute.refused));
    }

    private long nowSeconds() {
        return TimeUnit.NANOSECONDS.toSeconds(nanos.getAsLong());
    }

    /** Rings of seconds, up to the last one that had a request. */
    private static final class Minute {

        private final int[] admitted = new int[SECONDS];
        private final int[] refused = new int[SECONDS];
        private long last;

        Minute(long now) {
            last = now;
        }

        void count(long now, boolean isAdmitted) {
            for (long second = Math.max(last, now - SECONDS) + 1; second <= now; second++) {
                admitted[at(second)] = 0;
                refused[at(second)] = 0;
            }
            last = now;
            int[] counts = isAdmitted ? admitted : refused;
            counts[at(now)]++;
        }

        boolean isOver(long now) {
            return now - last >= SECONDS;
        }

        List<Integer> until(long now, int[] counts) {
            return LongStream.rangeClosed(now - SECONDS + 1, now)
                    .mapToObj(second -> second > last ? 0 : counts[at(second)])
                    .toList();
        }

        private static int at(long second) {
            return Math.floorMod(second, SECONDS);
        }
    }
}
