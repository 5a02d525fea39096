package dev.interlock.ratelimit.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The judge of rate limiters is strict enough, and not too strict. */
class AdmissionsTest {

    private static final Duration WINDOW = Duration.ofMillis(100);
    private static final RateLimit FIXED = RateLimit.fixedWindow(3, WINDOW);
    private static final RateLimit SLIDING = RateLimit.slidingWindow(3, WINDOW);
    private static final RateLimit BUCKET = RateLimit.tokenBucket(3, WINDOW).withBurst(2);
    private static final int NO = Call.REFUSED;

    /** Calls that took a tenth of a millisecond each, and how many permits remained, if they aren't refused. */
    private static List<Call> calls(long... millisAndAnswers) {
        return Stream.iterate(0, i -> i < millisAndAnswers.length, i -> i + 2)
                .map(i -> call(millisAndAnswers[i], (int) millisAndAnswers[i + 1]))
                .toList();
    }

    private static Call call(long millis, int answer) {
        long begun = TimeUnit.MILLISECONDS.toNanos(millis);
        return new Call(0, begun, begun + 100_000, answer);
    }

    /** Calls that were admitted. */
    private static Admissions admitted(RateLimit limit, long... millis) {
        return new Admissions(
                limit,
                Arrays.stream(millis).mapToObj(at -> call(at, Call.ADMITTED)).toList());
    }

    @Test
    void aStretchMayTouchTwoWindows() {
        assertThat(admitted(FIXED, 0, 98, 99, 100, 101, 102).assertNoStretchHasMore(0))
                .isEqualTo(5);
        assertThatThrownBy(() -> admitted(FIXED, 97, 98, 99, 100, 101, 102).assertNoStretchHasMore(0))
                .hasMessageContaining("6 were admitted within 5100 µs");
    }

    @Test
    void aStretchHasNoMoreThanASlidingWindow() {
        assertThat(admitted(SLIDING, 0, 98, 99, 101, 199, 200, 202).assertNoStretchHasMore(0))
                .isEqualTo(3);
        admitted(SLIDING, 0, 98, 99, 99, 101).assertNoStretchHasMore(1);
        assertThatThrownBy(() -> admitted(SLIDING, 99, 2, 1, 98).assertNoStretchHasMore(0))
                .hasMessageContaining("4 were admitted within 98100 µs");
        assertThatThrownBy(() -> admitted(SLIDING, 0, 101, 102, 103, 104).assertNoStretchHasMore(0))
                .hasMessageContaining("4 were admitted within 3100 µs");
    }

    @Test
    void aBucketHasItsBurstAndWhatComesInAndWhatWasTakenAhead() {
        admitted(BUCKET, 0, 0, 34, 68, 102).assertNoStretchHasMore(0);
        admitted(BUCKET, 0, 0, 0, 34).assertNoStretchHasMore(1);
        assertThatThrownBy(() -> admitted(BUCKET, 0, 0, 0).assertNoStretchHasMore(0))
                .hasMessageContaining("3 were admitted within 100 µs");
        assertThatThrownBy(() -> admitted(BUCKET, 0, 0, 34, 68, 70, 102).assertNoStretchHasMore(0))
                .hasMessageContaining("5 were admitted within 70100 µs");
    }

    @Test
    void aLongCallMayBelongToAnyTime() {
        var longCall = new Call(0, 0, TimeUnit.MILLISECONDS.toNanos(200), Call.ADMITTED);
        var others = List.of(call(99, Call.ADMITTED), call(99, Call.ADMITTED), longCall);
        new Admissions(BUCKET, others).assertNoStretchHasMore(0);
        new Admissions(SLIDING, others).assertNoStretchHasMore(0);
    }

    @Test
    void noPermitOfAWindowIsGivenTwice() {
        new Admissions(FIXED, calls(0, 2, 98, 1, 99, 0, 100, 2, 101, 0, 102, NO))
                .assertEachPermitOfAWindowIsGivenOnce();
        assertThatThrownBy(
                        () -> new Admissions(FIXED, calls(0, 2, 98, 1, 99, 1)).assertEachPermitOfAWindowIsGivenOnce())
                .hasMessageContaining("1 windows, but 2 times 1 permits remained");
        assertThatThrownBy(() -> new Admissions(FIXED, calls(0, 2, 100, 3)).assertEachPermitOfAWindowIsGivenOnce())
                .hasMessageContaining("1 times 3 permits remained");
        assertThatThrownBy(() -> new Admissions(FIXED, calls(99, 2, 0, 2)).assertEachPermitOfAWindowIsGivenOnce())
                .hasMessageContaining("Two windows begin within 99100 µs");
    }

    static Stream<RateLimit> windows() {
        return Stream.of(FIXED, SLIDING);
    }

    @ParameterizedTest
    @MethodSource("windows")
    void shareOfWindowsIsWhatTheRefusedSawAdmitted(RateLimit limit) {
        var right = new Admissions(limit, calls(0, 2, 1, 1, 2, 0, 3, NO, 99, NO, 100, 2, 101, 1, 102, 0, 199, NO));
        right.assertNobodyIsRefusedWhatIsThere();
        assertThat(right.share()).isEqualTo(1);

        var tooFew = new Admissions(limit, calls(0, 2, 1, 1, 50, NO));
        assertThatThrownBy(tooFew::assertNobodyIsRefusedWhatIsThere).hasMessageContaining("2L");
        assertThat(tooFew.share()).isCloseTo(2.0 / 3, within(0.01));

        var late = new Admissions(limit, calls(0, 2, 1, 1, 2, 0, 99, NO, 101, NO, 102, 2));
        assertThatThrownBy(late::assertNobodyIsRefusedWhatIsThere).hasMessageContaining("2L");
        assertThat(late.share()).isCloseTo(5.0 / 6, within(0.01));
    }

    @Test
    void shareOfABucketIsThatOfWhatComesWhileItIsEmpty() {
        RateLimit limit = RateLimit.tokenBucket(50, WINDOW);
        assertShares(limit, 1, 0.02);
        var full = new Admissions(BUCKET, calls(0, NO, 20, NO, 34, 0, 90, 0, 91, 0, 92, NO, 112, NO, 132, NO));
        assertThat(full.share()).isGreaterThan(1);
    }

    /** Asserts that a call every other ms makes use of a limit, and that half of them make use of half of it. */
    private static void assertShares(RateLimit limit, long from, double error) {
        assertThat(shareOf(limit, LongStream.range(from, 300).filter(at -> at % 2 == 1)))
                .isCloseTo(1, within(error));
        assertThat(shareOf(limit, LongStream.range(from, 300).filter(at -> at % 4 == 1)))
                .isCloseTo(0.5, within(error));
    }

    /** The share of some calls that are admitted before 300 ms, while others are refused all the time. */
    private static double shareOf(RateLimit limit, LongStream millis) {
        Stream<Call> admitted = millis.mapToObj(at -> call(at, Call.ADMITTED));
        Stream<Call> refused = LongStream.range(1, 300).mapToObj(at -> call(at, NO));
        return new Admissions(limit, Stream.concat(admitted, refused).toList()).share();
    }
}
