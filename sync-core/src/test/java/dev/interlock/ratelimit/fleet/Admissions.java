package dev.interlock.ratelimit.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimit.Algorithm;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;

/**
 * All that was asked of one limiter, judged from outside: a call was decided on at some time between its beginning and
 * its end. What is said to be too much is so whenever that was; what is said to be too little had been asked for in
 * vain.
 */
final class Admissions {

    /** The clock of Redis counts whole microseconds. */
    private static final long GRAIN = 2_000;

    /** Longer stretches than this aren't looked at one by one. */
    private static final long MOST_STRETCH = TimeUnit.SECONDS.toNanos(20);

    private final RateLimit limit;
    private final long permits;
    private final long window;
    private final List<Call> byEnd;
    private final List<Call> refusals;

    Admissions(RateLimit limit, List<Call> calls) {
        this.limit = limit;
        this.permits = limit.permits();
        this.window = limit.window().toNanos();
        this.byEnd = calls.stream()
                .filter(Call::isAdmitted)
                .sorted(Comparator.comparingLong(Call::ended))
                .toList();
        this.refusals = calls.stream()
                .filter(call -> !call.isAdmitted())
                .sorted(Comparator.comparingLong(Call::begun))
                .toList();
    }

    int total() {
        return byEnd.size();
    }

    int refused() {
        return refusals.size();
    }

    /** Asserts that some were refused, and that all JVMs were admitted. */
    void assertContended(int jvms) {
        assertThat(refused()).as("calls refused").isPositive();
        Map<Integer, Integer> shares = new HashMap<>();
        byEnd.forEach(call -> shares.merge(call.jvm(), 1, Integer::sum));
        assertThat(shares).as("JVMs that were admitted").hasSize(jvms);
    }

    /**
     * Asserts that in no stretch of time more were admitted than the limit allows; returns the most that were in one as
     * long as its window.
     *
     * @param ahead how many had been taken ahead by all JVMs at most before any stretch
     */
    long assertNoStretchHasMore(long ahead) {
        LongUnaryOperator bound = switch (limit.algorithm()) {
            case TOKEN_BUCKET ->
                stretch -> limit.burst() + ahead + (long) ((double) permits * (stretch + GRAIN) / window);
            case SLIDING_WINDOW -> stretch -> ((stretch + GRAIN) / window + 1) * permits + ahead;
            // It touches at most so many windows. If it does, it lacks the first permit of the first one.
            case FIXED_WINDOW -> stretch -> ((stretch + GRAIN) / window + 2) * permits - 1;
        };
        long[] begun = byEnd.stream().mapToLong(Call::begun).toArray();
        long[] ended = byEnd.stream().mapToLong(Call::ended).toArray();
        long most = 0;
        for (int i = 0; i < begun.length; i++) {
            long admitted = 0;
            for (int j = i; j < ended.length && ended[j] - begun[i] < MOST_STRETCH; j++) {
                // Calls that had begun before may belong to the time before.
                if (begun[j] < begun[i]) {
                    continue;
                }
                admitted++;
                long stretch = ended[j] - begun[i];
                if (admitted > bound.applyAsLong(stretch)) {
                    fail("%d were admitted within %d µs, by %s", admitted, stretch / 1_000, limit);
                }
                if (stretch <= window) {
                    most = Math.max(most, admitted);
                }
            }
        }
        return most;
    }

    /**
     * Asserts of a fixed window whose calls tell how many remained that windows begin no closer than they are long, and
     * that none of their permits was given twice.
     */
    void assertEachPermitOfAWindowIsGivenOnce() {
        List<Call> first = byEnd.stream()
                .filter(call -> call.answer() == permits - 1)
                .sorted(Comparator.comparingLong(Call::begun))
                .toList();
        for (int i = 1; i < first.size(); i++) {
            Call one = first.get(i - 1);
            Call next = first.get(i);
            if (Math.max(one.ended(), next.ended()) - one.begun() + GRAIN < window) {
                fail("Two windows begin within %d µs", (next.ended() - one.begun()) / 1_000);
            }
        }
        Map<Integer, Integer> given = new HashMap<>();
        byEnd.forEach(call -> given.merge(call.answer(), 1, Integer::sum));
        given.forEach((remaining, times) -> {
            if (remaining < 0 || remaining >= permits || times > first.size()) {
                fail("%d windows, but %d times %d permits remained", first.size(), times, remaining);
            }
        });
    }

    /** Returns which part of what should have been admitted was, when somebody was refused. */
    double share() {
        return limit.algorithm() == Algorithm.TOKEN_BUCKET ? shareOfBucket() : shareOfWindows();
    }

    /** Of its window, as those saw it on the average who were refused. */
    private double shareOfWindows() {
        return seenByRefused()
                .mapToDouble(seen -> Math.min(1, (double) seen / permits))
                .average()
                .orElseThrow();
    }

    /** Asserts of a fixed window that all of its permits had been given whenever somebody was refused. */
    void assertNobodyIsRefusedWhatIsThere() {
        seenByRefused()
                .min()
                .ifPresent(least -> assertThat(least)
                        .as("most that can have been admitted in the window in which somebody was refused")
                        .isGreaterThanOrEqualTo(permits));
    }

    /** For each refused call, how many at most had been admitted in a window that lasted until then. */
    private LongStream seenByRefused() {
        long[] ended = byEnd.stream().mapToLong(Call::ended).toArray();
        long[] begun = byEnd.stream().mapToLong(Call::begun).sorted().toArray();
        return refusals.stream()
                .mapToLong(call -> before(call.ended(), begun) - before(call.begun() - window - GRAIN, ended));
    }

    private static long before(long time, long[] sorted) {
        int at = Arrays.binarySearch(sorted, time);
        return at < 0 ? -at - 1 : at;
    }

    /**
     * Of what came between the first refusal and the last, when the bucket was empty, except while it may have been
     * full in between.
     */
    private double shareOfBucket() {
        long fills = limit.burst() * window / permits;
        long first = refusals.get(0).ended();
        long last = first;
        long nanos = 0;
        for (Call refusal : refusals) {
            long gap = refusal.begun() - last;
            nanos += gap > fills / 2 ? 0 : Math.max(0, gap);
            last = Math.max(last, refusal.begun());
        }
        long until = last;
        long admitted = byEnd.stream()
                .filter(call -> call.ended() >= first && call.begun() <= until)
                .count();
        return share(admitted, permits * (double) nanos / window - 1);
    }

    /** {@code promised} leaves out the permit that hasn't come in full; on a busy machine it may be all there is. */
    private static double share(long admitted, double promised) {
        return promised > 0 ? admitted / promised : 1;
    }
}
