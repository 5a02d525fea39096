package dev.interlock.internal.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.ratelimit.LimitModel.Verdict;
import dev.interlock.internal.ratelimit.LimitUse.Limit;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How many permits callers get of small limits and of large ones, by each algorithm. The sliding window gave a caller
 * who asked at the rate of the limit 9 of 20 permits if that was one a second, and 181 of 200 if it was ten.
 */
class LimitRateTest {
    private static final long SECOND = 1_000_000;
    private static final List<String> ALGORITHMS = List.of("fixed", "sliding", "bucket");
    private static final int WINDOWS = 20;
    private static final double LEAST_SHARE = 0.98;

    /** What the log of a sliding window and a session take at most. */
    private static final long MOST_BYTES = 3_300;

    private static final LimitScript SCRIPT = new LimitScript();

    private final LimitUse use = new LimitUse(SCRIPT);

    @AfterAll
    static void stop() {
        SCRIPT.close();
    }

    static Stream<Limit> smallLimits() {
        return ALGORITHMS.stream()
                .flatMap(algorithm -> Stream.concat(
                        Stream.of(1, 2, 3, 5, 10).map(permits -> new Limit(algorithm, permits, SECOND)),
                        Stream.of(new Limit(algorithm, 1, 60 * SECOND), new Limit(algorithm, 1, 3600 * SECOND))));
    }

    static Stream<Limit> largeLimits() {
        return ALGORITHMS.stream()
                .flatMap(algorithm -> Stream.of(65, 128, 1_000).map(permits -> new Limit(algorithm, permits, SECOND)));
    }

    private void assertRate(Limit limit) {
        use.assertNeverMoreThan(limit);
        assertThat((double) use.granted())
                .as("permits of %s in %s µs", limit, use.passed())
                .isGreaterThanOrEqualTo(LEAST_SHARE * limit.permits() * use.passed() / limit.window());
    }

    @ParameterizedTest
    @MethodSource("smallLimits")
    void aSaturatedCallerGetsTheLimit(Limit limit) {
        while (use.passed() < WINDOWS * limit.window()) {
            use.ask(limit, 1);
            use.pass(limit.window() / 20);
        }
        assertRate(limit);
    }

    /** Again after a refusal, and again without a pause after a permit. */
    @ParameterizedTest
    @MethodSource("smallLimits")
    void aCallerThatObeysRetryAfterGetsTheLimit(Limit limit) {
        while (use.passed() < WINDOWS * limit.window()) {
            long wait = use.ask(limit, 1).waits();
            if (wait > 0) {
                use.pass(wait - 1);
                Verdict early = use.ask(limit, 1);
                assertThat(early.granted()).as("a moment too early").isZero();
                assertThat(early.waits()).isEqualTo(1);
                use.pass(1);
                assertThat(use.isGranted(limit)).as("after %s µs", wait).isTrue();
            }
        }
        assertRate(limit);
    }

    @ParameterizedTest
    @MethodSource({"smallLimits", "largeLimits"})
    void evenlySpacedRequestsBelowTheLimitAreGranted(Limit limit) {
        for (double share : new double[] {0.5, 0.9, 0.98}) {
            long asked = Math.max(10, Math.min(1_100, WINDOWS * limit.permits()));
            long spacing = (long) Math.ceil(limit.window() / (share * limit.permits()));
            for (int i = 0; i < asked; i++) {
                assertThat(use.isGranted(limit))
                        .as("request %s of %s of the limit", i, share)
                        .isTrue();
                use.pass(spacing);
            }
            use.pass(2 * limit.window());
        }
        use.assertNeverMoreThan(limit);
    }

    @ParameterizedTest
    @MethodSource("smallLimits")
    void evenlySpacedRequestsAtTheLimitAreGranted(Limit limit) {
        for (int i = 0; i < WINDOWS * limit.permits(); i++) {
            assertThat(use.isGranted(limit)).as("request %s", i).isTrue();
            use.pass((limit.window() + limit.permits() - 1) / limit.permits());
        }
        use.assertNeverMoreThan(limit);
    }

    /** Callers that want all that they can get, in portions of random sizes at random times. */
    @ParameterizedTest
    @MethodSource("largeLimits")
    @Tag("proof")
    void crowdsGetTheLimit(Limit limit) {
        Random random = new Random(limit.permits());
        while (use.passed() < 6 * limit.window()) {
            for (long portion = limit.permits() / 20; portion > 0; portion /= 2) {
                while (use.ask(limit, 1 + random.nextLong(portion)).granted() > 0) {
                    use.pass(random.nextLong(10));
                }
            }
            use.pass(random.nextLong(limit.window() / 100));
        }
        assertRate(limit);
        assertThat(SCRIPT.bytes(use.state)).isLessThan(MOST_BYTES);
    }

    /** Whenever a permit is refused, almost all have been granted in the window before. */
    @ParameterizedTest
    @ValueSource(longs = {64, 100, 640, 100_000})
    void aSlidingWindowRefusesOnlyWhatIsTaken(long permits) {
        Limit limit = new Limit("sliding", permits, SECOND);
        Random random = new Random(permits);
        long least = permits - permits / 64;
        for (int i = 0; i < 3_000; i++) {
            if (!use.isGranted(limit)) {
                assertThat(use.grantedLately(SECOND)).isGreaterThanOrEqualTo(least);
                use.pass(random.nextLong(SECOND / 4));
            }
            if (random.nextInt(3) == 0) {
                use.ask(limit, 1 + random.nextLong(permits / 20));
            }
            use.pass(random.nextLong(SECOND / 60));
        }
        use.assertNeverMoreThan(limit);
        assertThat(SCRIPT.bytes(use.state)).isLessThan(MOST_BYTES);
    }
}
