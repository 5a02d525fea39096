package dev.interlock.semaphore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.TestThreads.Action;
import dev.interlock.testing.Visitors.Visitor;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How many permits of a {@link Semaphore} there are, after whatever one thread, or one after the other, does. */
abstract class SemaphoreCountContract extends SemaphoreFixture {

    static Stream<Arguments> waysAndCounts() {
        return Stream.of(Way.values()).flatMap(way -> Stream.of(1, 2, 5).map(count -> Arguments.of(way, count)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5, Integer.MAX_VALUE, -1, Integer.MIN_VALUE})
    @DisplayName("there are as many permits as it's made with, none and fewer than none included")
    void beginsWithItsPermits(int permits) {
        Semaphore semaphore = newSemaphore(permits);

        assertPermits(semaphore, permits);
        assertThat(semaphore.isFair()).isEqualTo(fair());
        assertNobodyQueued(semaphore);
    }

    @ParameterizedTest
    @MethodSource("waysAndCounts")
    @DisplayName("each way takes as many permits as it's asked for, at once if they are there, "
            + "and release() brings them back")
    void takesWhatIsAskedFor(Way way, int count) throws InterruptedException {
        Semaphore semaphore = newSemaphore(5);
        for (Semaphore side : sides(semaphore)) {
            assertThat(way.on(side, count)).isTrue();
            assertPermits(semaphore, 5 - count);
            side.release(count);
            assertPermits(semaphore, 5);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("permits go one by one and in bulk until none is left, and come back in any portions")
    void countsPortions(Contender contender) throws InterruptedException {
        against(contender, 6);

        semaphore.acquire();
        side.acquire(2);
        semaphore.acquireUninterruptibly();
        side.acquireUninterruptibly(2);
        assertPermits(semaphore, 0);
        assertThat(semaphore.tryAcquire()).isFalse();
        assertThat(side.tryAcquire(1, 0, NANOS)).isFalse();

        semaphore.release(2);
        assertPermits(semaphore, 2);
        side.release();
        side.release(3);
        assertPermits(semaphore, 6);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("tryAcquire() of more permits than there are fails and takes none")
    void bulkIsAllOrNothing(Contender contender) throws InterruptedException {
        against(contender, 3);
        side.acquire();

        assertThat(semaphore.tryAcquire(3)).isFalse();
        assertThat(semaphore.tryAcquire(3, 0, NANOS)).isFalse();
        assertThat(semaphore.tryAcquire(3, shortWait().toNanos(), NANOS)).isFalse();
        assertThat(semaphore.tryAcquire(Integer.MAX_VALUE)).isFalse();

        assertSettled(semaphore, 2);
        assertThat(semaphore.tryAcquire(2)).isTrue();
        assertPermits(semaphore, 0);
        semaphore.release(2);
        side.release();
        assertPermits(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("who releases what he doesn't hold adds permits, for everybody")
    void releaseAdds(Contender contender) throws InterruptedException {
        against(contender, 0);

        semaphore.release();
        assertPermits(semaphore, 1);
        semaphore.release(3);
        assertPermits(semaphore, 4);
        assertThat(side.tryAcquire(4)).isTrue();
        assertPermits(semaphore, 0);
        side.release(5);
        assertPermits(semaphore, 5);
        assertThat(semaphore.tryAcquire(5)).isTrue();
        assertThat(side.tryAcquire()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("permits belong to no thread: whoever releases them, they are back")
    void belongsToNobody(Contender contender) throws InterruptedException {
        against(contender, 2);
        semaphore.acquire(2);

        threads().start("other", () -> side.release(2)).result();

        assertPermits(semaphore, 2);
        assertThat(semaphore.tryAcquire(2)).isTrue();
        assertThat(side.tryAcquire()).isFalse();
        threads().start("another", () -> semaphore.release(2)).result();
        assertPermits(semaphore, 2);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("drainPermits() takes all there are and says how many; they can be released like others")
    void drains(Contender contender) throws InterruptedException {
        against(contender, 5);
        side.acquire(2);

        assertThat(semaphore.drainPermits()).isEqualTo(3);
        assertPermits(semaphore, 0);
        assertThat(semaphore.drainPermits()).isZero();
        assertThat(side.drainPermits()).isZero();
        assertThat(side.tryAcquire()).isFalse();
        semaphore.release(3);
        side.release(2);
        assertPermits(semaphore, 5);
        assertThat(side.drainPermits()).isEqualTo(5);
        side.release(5);
        assertPermits(semaphore, 5);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("drainPermits() of fewer than none says so, and leaves none")
    void drainsDebts(Contender contender) {
        against(contender, -3);

        assertThat(side.drainPermits()).isEqualTo(-3);
        assertPermits(semaphore, 0);
        semaphore.release();
        assertPermits(semaphore, 1);
        SemaphoreProbe.reducePermits(side, 3);
        assertThat(semaphore.drainPermits()).isEqualTo(-2);
        assertPermits(semaphore, 0);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("reducePermits() takes permits away without waiting, below none if need be; releases make up for it")
    void reduces(Contender contender) throws InterruptedException {
        against(contender, 3);
        side.acquire(2);

        SemaphoreProbe.reducePermits(semaphore, 1);
        assertPermits(semaphore, 0);
        SemaphoreProbe.reducePermits(semaphore, 2);
        assertPermits(semaphore, -2);
        assertThat(semaphore.tryAcquire()).isFalse();
        assertThat(side.tryAcquire(1, 0, NANOS)).isFalse();

        side.release();
        assertPermits(semaphore, -1);
        side.release();
        assertPermits(semaphore, 0);
        assertThat(side.tryAcquire()).isFalse();
        side.release();
        assertPermits(semaphore, 1);
        assertThat(semaphore.tryAcquire()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("what is missing at first has to be released before anybody gets a permit")
    void beginsWithDebts(Contender contender) {
        against(contender, -2);

        assertThat(side.tryAcquire()).isFalse();
        side.release(2);
        assertPermits(semaphore, 0);
        assertThat(semaphore.tryAcquire()).isFalse();
        semaphore.release();
        assertThat(side.tryAcquire()).isTrue();
        assertPermits(semaphore, 0);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("no permits are acquired, released and taken away at once, and that changes nothing")
    void zeroIsANumber(Way way) throws InterruptedException {
        for (int permits : new int[] {0, 2}) {
            Semaphore semaphore = newSemaphore(permits);
            assertThat(way.on(semaphore, 0)).isTrue();
            assertThat(semaphore.tryAcquire(0, 0, NANOS)).isTrue();
            semaphore.release(0);
            SemaphoreProbe.reducePermits(semaphore, 0);
            assertPermits(semaphore, permits);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("of fewer permits than none not even none can be had")
    void zeroWaitsForDebts(Contender contender) throws InterruptedException {
        against(contender, -1);
        guests().limit(0);

        if (deviates(Deviation.NOTHING_IS_ALWAYS_THERE)) {
            guest("content", semaphore, 0, Way.ACQUIRE::on).leave();
            guest("content, too", side, 0, Way.TIMED::on).leave();
            assertPermits(semaphore, -1);
            return;
        }
        assertThat(semaphore.tryAcquire(0)).isFalse();
        assertThat(side.tryAcquire(0, 0, NANOS)).isFalse();
        Visitor guest = queue("content", semaphore, 0, Way.ACQUIRE::on);
        guest.assertStillWaits();
        side.release();
        guest.leave();

        assertPermits(semaphore, 0);
        assertNobodyQueued(semaphore);
    }

    @Test
    @DisplayName("a negative number of permits is an IllegalArgumentException whoever gets it, and changes nothing")
    void refusesNegativeNumbers() {
        Semaphore semaphore = newSemaphore(3);
        List<Action> calls = List.of(
                () -> semaphore.acquire(-1),
                () -> semaphore.acquireUninterruptibly(-1),
                () -> semaphore.tryAcquire(-1),
                () -> semaphore.tryAcquire(-1, 1, TimeUnit.HOURS),
                () -> semaphore.tryAcquire(-1, -1, TimeUnit.HOURS),
                () -> semaphore.acquire(Integer.MIN_VALUE),
                () -> semaphore.release(-1),
                () -> semaphore.release(Integer.MIN_VALUE),
                () -> SemaphoreProbe.reducePermits(semaphore, -1));

        for (Action call : calls) {
            assertThatThrownBy(call::run).isExactlyInstanceOf(IllegalArgumentException.class);
        }
        // It's refused before an interrupt is looked for.
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> semaphore.acquire(-1)).isExactlyInstanceOf(IllegalArgumentException.class);
        assertThat(Thread.interrupted()).as("flag").isTrue();
        assertPermits(semaphore, 3);
    }

    @Test
    @DisplayName("a time-out without a unit is a NullPointerException")
    @SuppressWarnings("NullAway") // What null does is the question.
    void refusesMissingUnit() {
        Semaphore semaphore = newSemaphore(1);

        assertThatThrownBy(() -> semaphore.tryAcquire(1, null)).isExactlyInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> semaphore.tryAcquire(1, 1, null)).isExactlyInstanceOf(NullPointerException.class);
        assertPermits(semaphore, 1);
    }

    @Test
    @DisplayName("more permits than an int can count, or fewer, are an Error, and change nothing")
    void refusesOverflow() {
        if (deviates(Deviation.COUNT_UNCHECKED)) {
            return;
        }
        Semaphore many = newSemaphore(2);
        for (Semaphore side : sides(many)) {
            assertThatThrownBy(() -> side.release(Integer.MAX_VALUE)).isExactlyInstanceOf(Error.class);
            assertThatThrownBy(() -> side.release(Integer.MAX_VALUE - 1)).isExactlyInstanceOf(Error.class);
            assertPermits(many, 2);
        }
        Semaphore few = newSemaphore(-2);
        for (Semaphore side : sides(few)) {
            assertThatThrownBy(() -> SemaphoreProbe.reducePermits(side, Integer.MAX_VALUE))
                    .isExactlyInstanceOf(Error.class);
            assertPermits(few, -2);
        }
        SemaphoreProbe.reducePermits(few, Integer.MAX_VALUE - 1);
        assertPermits(few, Integer.MIN_VALUE);
    }

    @Test
    @DisplayName("toString() tells the permits")
    void describesItself() {
        Semaphore semaphore = newSemaphore(3);
        String identity = semaphore.getClass().getName() + "@" + Integer.toHexString(semaphore.hashCode());
        for (int permits = 3; permits >= 0; permits--) {
            String jdk = identity + "[Permits = " + permits + "]";
            if (deviates(Deviation.TO_STRING_TELLS_NO_PERMITS)) {
                assertThat(semaphore.toString()).isNotBlank();
            } else if (deviates(Deviation.TO_STRING_DIFFERS)) {
                assertThat(semaphore.toString()).contains("Permits = " + permits);
            } else {
                assertThat(semaphore).hasToString(jdk);
            }
            assertThat(semaphore.tryAcquire()).isEqualTo(permits > 0);
        }
    }

    @Test
    @DisplayName(
            "a deserialized semaphore has the permits that were there, is as fair, and independent of its original")
    void isSerializable() throws IOException, ClassNotFoundException, InterruptedException {
        Semaphore semaphore = newSemaphore(3);
        semaphore.acquire();

        copy(semaphore).ifPresent(copy -> {
            assertThat(copy.isFair()).isEqualTo(fair());
            copy.acquireUninterruptibly();
            assertThat(copy.availablePermits()).isEqualTo(1);
        });

        assertPermits(semaphore, 2);
    }
}
