package dev.interlock.internal.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.ratelimit.LimitModel.Verdict;
import dev.interlock.internal.ratelimit.LimitUse.Limit;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Limits of different algorithms and windows under one name, stated by different callers or set one after the other:
 * what was taken counts against all of them. It counted only for the algorithm by which it was taken, so that a window
 * and a bucket of ten an hour in turn granted 200 of 200 requests.
 */
class SeveralLimitsTest {
    private static final List<String> ALGORITHMS = List.of("fixed", "sliding", "bucket");
    private static final long SECOND = 1_000_000;
    private static final long MINUTE = 60 * SECOND;
    private static final long HOUR = 60 * MINUTE;

    private static final LimitScript SCRIPT = new LimitScript();

    private final LimitUse use = new LimitUse(SCRIPT);

    @AfterAll
    static void stop() {
        SCRIPT.close();
    }

    private static Limit anHour(String algorithm) {
        return new Limit(algorithm, 10, HOUR);
    }

    static Stream<Arguments> pairs() {
        return ALGORITHMS.stream().flatMap(one -> ALGORITHMS.stream().map(other -> Arguments.of(one, other)));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void twoAlgorithmsInTurnGrantOneLimit(String one, String other) {
        for (int i = 0; i < 200; i++) {
            use.ask(anHour(i % 2 == 0 ? one : other), 1);
            use.pass(SECOND);
        }
        assertThat(use.granted()).isEqualTo(10);
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void anUpdateToAnotherAlgorithmCarriesOverWhatWasTaken(String one, String other) {
        use.update(anHour(one));
        assertThat(use.ask(anHour("fixed"), 7).remaining()).isEqualTo(3);
        for (int round = 0; round < 3; round++) {
            use.pass(SECOND);
            use.update(anHour(round % 2 == 0 ? other : one));
            assertThat(use.ask(anHour("fixed"), 4).granted()).isZero();
            assertThat(use.isGranted(anHour("fixed"))).isTrue();
        }
        assertThat(use.isGranted(anHour("fixed"))).isFalse();
        use.pass(2 * HOUR);
        assertThat(use.ask(anHour("fixed"), 10).granted()).isEqualTo(10);
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void anUpdateToALongerWindowCarriesOverWhatWasTaken(String one, String other) {
        use.update(new Limit(one, 10, MINUTE));
        assertThat(use.ask(anHour("fixed"), 10).granted()).isEqualTo(10);
        use.update(anHour(other));
        Verdict refused = use.ask(anHour("fixed"), 1);
        assertThat(refused.granted()).isZero();
        use.pass(refused.waits() - 1);
        assertThat(use.isGranted(anHour("fixed"))).isFalse();
        use.pass(1);
        assertThat(use.isGranted(anHour("fixed"))).isTrue();
        assertThat(use.passed()).isGreaterThanOrEqualTo(HOUR / 10);
    }

    /** Callers that want all that they can get have the limit in the long run, and no more. */
    @ParameterizedTest
    @MethodSource("pairs")
    void saturatedCallersInTurnGetTheLimitForLong(String one, String other) {
        int windows = 8;
        for (int i = 0; use.passed() < windows * HOUR; i++) {
            use.ask(anHour(i % 2 == 0 ? one : other), 1);
            use.pass(MINUTE / 2);
            int most = one.equals("sliding") && other.equals("sliding") ? 10 : 20;
            assertThat(use.grantedLately(HOUR)).isLessThanOrEqualTo(most);
        }
        assertThat(use.granted()).isBetween((long) (0.98 * 10 * windows), 10L * (windows + 1));
    }

    /**
     * Old instances have a short window and new ones a long one: the long one's limit holds, whatever the others take,
     * and they get what they have been getting.
     */
    @ParameterizedTest
    @MethodSource("pairs")
    @Tag("proof")
    void aLongWindowSeesWhatAShortOneGrants(String longer, String shorter) {
        Random random = new Random(1);
        Limit long_ = new Limit(longer, 100, HOUR);
        Limit short_ = new Limit(shorter, 10, MINUTE);
        long byLong = 0;
        while (use.passed() < 3 * HOUR) {
            long before = use.grantedLately(HOUR);
            if (use.isGranted(long_)) {
                byLong++;
                // A bucket gives its size and what comes. Of fixed windows, part of the one before is seen.
                if (!longer.equals("fixed")) {
                    assertThat(before).isLessThan(longer.equals("sliding") ? 100 : 200);
                }
            }
            use.pass(random.nextLong(10 * SECOND));
            use.ask(short_, 1 + random.nextInt(2));
            use.pass(random.nextLong(10 * SECOND));
        }
        assertThat(byLong).as("granted by the long window").isLessThan(4 * 100);
        assertThat(use.granted(short_)).as("granted by the short window").isGreaterThan(90 * 10);
    }

    /** Others take far more: those who state a small limit are refused, however rarely they ask, and nothing grows. */
    @ParameterizedTest
    @MethodSource("pairs")
    void aSmallLimitBesideALargeOneIsNeverGrantedMore(String small, String large) {
        Limit few = anHour(small);
        Limit many = new Limit(large, 1_000, MINUTE);
        assertThat(use.isGranted(few)).isTrue();
        for (int minute = 0; minute < 120; minute++) {
            for (int i = 0; i < 10; i++) {
                assertThat(use.ask(many, 50).granted()).isEqualTo(50);
                use.pass(6 * SECOND);
            }
            if (minute % 7 == 0) {
                use.ask(few, 1);
            }
        }
        // Of a fixed window the first one may be theirs.
        assertThat(use.granted(few)).isLessThanOrEqualTo(small.equals("fixed") ? 3 : 1);
        assertThat(SCRIPT.bytes(use.state)).isLessThan(2_000);
        use.pass(2 * HOUR);
        assertThat(use.isGranted(few)).isTrue();
    }

    /** A limit that nobody states any more is forgotten, and one that is set leaves no other. */
    @Test
    void limitsThatAreNotInUseAreForgotten() {
        Limit now = anHour("sliding");
        for (int i = 0; i < 10; i++) {
            use.ask(new Limit(ALGORITHMS.get(i % 3), 20 + i, HOUR), 1);
            use.pass(SECOND);
        }
        assertThat(countBytes()).isLessThan(1_000);
        use.pass(HOUR / 2);
        use.ask(now, 1);
        use.pass(HOUR);
        use.ask(now, 1);
        use.pass(HOUR / 2);
        use.ask(now, 1);
        assertThat(countBytes()).isLessThan(59 + 2 * 16);
        use.ask(anHour("bucket"), 1);
        assertThat(countBytes()).isGreaterThan(2 * 59);
        use.update(anHour("fixed"));
        use.ask(now, 1);
        assertThat(countBytes()).isEqualTo(59);
    }

    private static final String LENGTH = "return redis.call('hstrlen', KEYS[1], 'counts')";

    private long countBytes() {
        return SCRIPT.call("EVAL", LENGTH, "1", use.state) instanceof Long length ? length : 0;
    }

    /** A wait that was granted by one limit makes callers of the other wait as well. */
    @ParameterizedTest
    @MethodSource("pairs")
    void reservationsCountForBoth(String one, String other) {
        assertThat(use.ask(anHour(one), 10).granted()).isEqualTo(10);
        assertThat(use.reserve(anHour(one), 10)).isPositive();
        Verdict refused = use.ask(anHour(other), 1);
        assertThat(refused.granted()).isZero();
        assertThat(refused.waits()).isGreaterThan(HOUR);
        use.pass(HOUR + 1);
        assertThat(use.isGranted(anHour(other))).isFalse();
    }
}
