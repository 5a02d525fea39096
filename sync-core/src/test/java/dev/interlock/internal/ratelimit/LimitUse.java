package dev.interlock.internal.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.ratelimit.LimitModel.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** What callers ask of one limiter in virtual time, and what they were granted. Times are microseconds. */
final class LimitUse {
    private static final long START = 1_700_000_000_123_457L;

    /**
     * A limit.
     *
     * @param algorithm fixed, sliding or bucket, whose size is the number of permits
     * @param window in µs
     */
    record Limit(String algorithm, long permits, long window) {
        String text() {
            return algorithm + " " + permits + " " + window + " " + permits;
        }
    }

    /** Permits that were granted. */
    private record Grant(long time, long permits, Limit limit) {}

    final String state = "state-" + UUID.randomUUID();
    final String updated = "updated-" + UUID.randomUUID();
    private final LimitScript script;
    private final List<Grant> grants = new ArrayList<>();
    private long version;
    private long now = START;

    LimitUse(LimitScript script) {
        this.script = script;
    }

    /** Returns how much time has passed. */
    long passed() {
        return now - START;
    }

    void pass(long micros) {
        now += micros;
    }

    /** Asks for permits of a limit that the caller states. */
    Verdict ask(Limit limit, long permits) {
        return ask(limit, permits, 0);
    }

    /** Takes permits, and returns how long to wait for them. */
    long reserve(Limit limit, long permits) {
        return ask(limit, permits, 10 * limit.window).waits();
    }

    private Verdict ask(Limit limit, long permits, long patience) {
        String request = permits + " 0 " + patience + " ";
        Verdict verdict = LimitScript.verdicts(
                        script.run(state, updated, now, "session", ++version, limit.text(), request))
                .get(0);
        if (verdict.granted() > 0) {
            grants.add(new Grant(now + verdict.waits(), verdict.granted(), limit));
        }
        return verdict;
    }

    boolean isGranted(Limit limit) {
        return ask(limit, 1).granted() > 0;
    }

    /** Sets a limit for all. */
    void update(Limit limit) {
        script.call("SET", updated, limit.text() + " 1");
    }

    long granted() {
        return grants.stream().mapToLong(Grant::permits).sum();
    }

    long granted(Limit limit) {
        return grants.stream()
                .filter(grant -> grant.limit.equals(limit))
                .mapToLong(Grant::permits)
                .sum();
    }

    /** Returns how many permits were granted, by whichever limit, in the time that has passed lately. */
    long grantedLately(long micros) {
        return grants.stream()
                .filter(grant -> grant.time > now - micros)
                .mapToLong(Grant::permits)
                .sum();
    }

    /** Asserts of a limit that is the only one that it has never granted more than it allows. */
    void assertNeverMoreThan(Limit limit) {
        switch (limit.algorithm) {
            case "fixed" -> assertFixed(limit);
            case "sliding" -> assertInAnyStretch(limit, 0, limit.window);
            default -> assertInAnyStretch(limit, limit.permits, Long.MAX_VALUE);
        }
    }

    private void assertFixed(Limit limit) {
        long start = Long.MIN_VALUE;
        long taken = 0;
        for (Grant grant : grants) {
            if (grant.time >= start + limit.window) {
                start = grant.time;
                taken = 0;
            }
            taken += grant.permits;
            assertThat(taken).as("taken from one window of %s", limit).isLessThanOrEqualTo(limit.permits);
        }
    }

    /** Asserts that no stretch, from one grant to another, has more than comes in it and what was there before. */
    private void assertInAnyStretch(Limit limit, long before, long longest) {
        for (int first = 0; first < grants.size(); first++) {
            long taken = 0;
            long begin = grants.get(first).time;
            for (Grant grant : grants.subList(first, grants.size())) {
                long stretch = grant.time - begin;
                if (stretch >= longest) {
                    break;
                }
                taken += grant.permits;
                long most = longest == limit.window ? limit.permits : before + stretch * limit.permits / limit.window;
                if (taken > most) {
                    assertThat(taken)
                            .as("granted within %s µs by %s", stretch, limit)
                            .isLessThanOrEqualTo(most);
                }
            }
        }
    }
}
