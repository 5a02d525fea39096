package dev.interlock.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AnswerSpinnerTest {
    private static final long FAST = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(5);

    private final AtomicLong nanos = new AtomicLong();
    private final AnswerSpinner spinner = new AnswerSpinner(nanos::get);
    private final AtomicInteger looks = new AtomicInteger();

    private boolean isThereAtLook(int which) {
        return looks.incrementAndGet() >= which;
    }

    private void hear(int times, long tookNanos) {
        for (int i = 0; i < times; i++) {
            spinner.heard(tookNanos);
        }
    }

    @Test
    void answerThatIsThereNeedsOneLook() {
        assertThat(spinner.awaits(CompletableFuture.completedFuture("there"))).isTrue();
        assertThat(spinner.awaits(() -> isThereAtLook(1))).isTrue();
        assertThat(looks).hasValue(1);
    }

    @Test
    void answerThatComesSoonIsSeen() {
        assertThat(spinner.awaits(() -> isThereAtLook(3))).isTrue();
        assertThat(looks).hasValue(3);
    }

    /** Whoever looks out in vain has to park, and isn't kept from it. */
    @Test
    void answerThatDoesNotComeIsNotWaitedForLong() {
        hear(100, FAST);
        assertThat(spinner.awaits(() -> {
                    looks.incrementAndGet();
                    nanos.addAndGet(FAST);
                    return false;
                }))
                .isFalse();
        assertThat(looks).as("twice as long as usual").hasValueLessThan(5);
    }

    @Test
    void nobodyLooksOutForAnswersFromAfar() {
        hear(100, SLOW);
        assertThat(spinner.awaits(() -> isThereAtLook(2))).isFalse();
        assertThat(looks).hasValue(1);
        hear(100, FAST);
        assertThat(spinner.awaits(() -> isThereAtLook(3))).isTrue();
    }

    /** A pause of a second doesn't count as one: eight fast answers later it is forgotten. */
    @Test
    void onePauseSaysLittle() {
        hear(100, FAST);
        spinner.heard(TimeUnit.SECONDS.toNanos(1));
        hear(8, FAST);
        assertThat(spinner.awaits(() -> isThereAtLook(2))).isTrue();
    }

    /** The processors are for those who have something to do. */
    @Test
    void onlySomeLookOutAtATime() {
        assertThat(outcomeOfTheLast(Runtime.getRuntime().availableProcessors() + 1))
                .isFalse();
        assertThat(spinner.awaits(() -> isThereAtLook(2)))
                .as("places are given back")
                .isTrue();
    }

    private boolean outcomeOfTheLast(int depth) {
        int[] own = {0};
        boolean[] inner = {false};
        boolean isSeen = spinner.awaits(() -> {
            if (++own[0] == 1 && depth > 1) {
                inner[0] = outcomeOfTheLast(depth - 1);
            }
            return own[0] >= 2;
        });
        return depth == 1 ? isSeen : inner[0];
    }
}
