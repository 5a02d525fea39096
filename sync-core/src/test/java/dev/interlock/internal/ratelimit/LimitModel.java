package dev.interlock.internal.ratelimit;

/**
 * What a limit should say, in plain Java and by other means than the scripts. Times are microseconds of a clock that
 * the test moves, and that never goes back behind the last time at which anything was granted.
 */
abstract class LimitModel {
    /** What becomes of a request, in the words of the script's answer. */
    record Verdict(long granted, long waits, long remaining, long reset) {}

    final long window;
    long permits;
    long burst;

    LimitModel(long permits, long window, long burst) {
        this.permits = permits;
        this.window = window;
        this.burst = burst;
    }

    final Verdict ask(long now, long wanted, long more, long patience) {
        if (wanted > burst) {
            return new Verdict(0, -1, remaining(now), reset(now));
        }
        long earliest = earliest(now, wanted);
        if (earliest - now > patience) {
            return new Verdict(0, earliest - now, remaining(now), reset(now));
        }
        long granted = earliest > now ? wanted : Math.max(wanted, Math.min(wanted + more, remaining(now)));
        take(now, earliest, granted);
        return new Verdict(granted, earliest - now, remaining(now), reset(now));
    }

    /** The first moment from now on at which so many permits are there, after all that was taken so far. */
    abstract long earliest(long now, long wanted);

    /** Takes permits now, for that time. */
    abstract void take(long now, long time, long wanted);

    /** How many can be taken now. */
    private long remaining(long now) {
        long count = 0;
        while (count < burst && earliest(now, count + 1) == now) {
            count++;
        }
        return count;
    }

    /** How long until all permits are there. */
    abstract long reset(long now);

    /** Redis has dropped the key. */
    abstract void forget();
}
