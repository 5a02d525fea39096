package dev.interlock.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.semaphore.Guests.Entry;
import dev.interlock.testing.ContractFixture;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.Visitors.Visitor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.provider.Arguments;

/** What {@link SemaphoreContract} asks of a subclass, and the means its tests share. */
@SuppressWarnings("NullAway.Init") // a test that needs them begins with against()
abstract class SemaphoreFixture extends ContractFixture<Semaphore> {
    static final List<Way> INTERRUPTIBLE_WAITS = List.of(Way.ACQUIRE, Way.TIMED);
    static final List<Way> WAITS = List.of(Way.ACQUIRE, Way.UNINTERRUPTIBLY, Way.TIMED);
    static final TimeUnit NANOS = TimeUnit.NANOSECONDS;

    /** The semaphore of a test, and the object through which the contender uses it. */
    Semaphore semaphore;

    Semaphore side;
    private Guests guests = new Guests();

    /** A semaphore that nobody has used and that no other test will use. */
    protected abstract Semaphore newSemaphore(int permits);

    @Override
    protected final Semaphore sample() {
        return newSemaphore(1);
    }

    /**
     * Returns once {@code waiter} waits for permits of {@code semaphore}. That it's in the local queue proves it; where
     * arrival elsewhere matters too, a subclass has to look there as well.
     */
    protected void awaitWaiting(Semaphore semaphore, Thread waiter) {
        await(waiter.getName() + " waits").until(() -> {
            assertThat(waiter.getState())
                    .as(waiter.getName() + ", which should wait,")
                    .isNotEqualTo(Thread.State.TERMINATED);
            return SemaphoreProbe.queuedThreads(semaphore).contains(waiter);
        });
    }

    @BeforeEach
    final void expectNewGuests() {
        guests = new Guests();
    }

    /** Begins a test against this contender, with permits of which guests may hold all between them. */
    final void against(Contender contender, int permits) {
        guests.limit(permits);
        semaphore = newSemaphore(permits);
        side = sideOf(contender, semaphore);
    }

    /** Begins a test in which this contender has so many of these permits. */
    final Visitor heldBy(Contender contender, int held, int permits) {
        against(contender, permits);
        return hold(side, held);
    }

    final Guests guests() {
        return guests;
    }

    /** Whether a request that could be served waits behind a larger one that can't. */
    final boolean smallWaitsBehindLarge(Contender contender) {
        return fair()
                || deviates(Deviation.SMALL_WAITS_BEHIND_LARGE)
                || (contender == Contender.SAME_OBJECT && deviates(Deviation.SMALL_WAITS_BEHIND_LARGE_OF_ITS_SESSION));
    }

    final Stream<Arguments> contendersAndCounts() {
        return contendersWith(1, 3);
    }

    final Stream<Arguments> contendersAndWays() {
        return contendersWith((Object[]) Way.values());
    }

    final Stream<Arguments> contendersAndWaits() {
        return contendersWith(WAITS.toArray());
    }

    final Stream<Arguments> contendersAndInterruptibleWaits() {
        return contendersWith(INTERRUPTIBLE_WAITS.toArray());
    }

    /** A semaphore of which guests may hold that many permits between them. */
    final Semaphore semaphore(int permits) {
        guests.limit(permits);
        return newSemaphore(permits);
    }

    /** Asserts that there are so many permits, whoever asks. */
    final void assertPermits(Semaphore semaphore, int permits) {
        if (deviates(Deviation.REQUEST_LINGERS)) {
            awaitPermits(semaphore, permits);
        } else {
            assertPermitsNow(semaphore, permits);
        }
    }

    private void assertPermitsNow(Semaphore semaphore, int permits) {
        for (Semaphore side : sides(semaphore)) {
            assertThat(side.availablePermits()).as("permits of %s", side).isEqualTo(permits);
        }
    }

    private void awaitPermits(Semaphore semaphore, int permits) {
        await("permits come back").pollInSameThread().untilAsserted(() -> assertPermitsNow(semaphore, permits));
    }

    /** The same after waiters have left: what they were given at that moment may be on its way back. */
    final void assertSettled(Semaphore semaphore, int permits) {
        if (deviates(Deviation.RETURN_LINGERS)) {
            awaitPermits(semaphore, permits);
        } else {
            assertPermitsNow(semaphore, permits);
        }
    }

    static void assertNobodyQueued(Semaphore semaphore) {
        assertThat(semaphore.hasQueuedThreads()).as("has queued threads").isFalse();
        assertThat(semaphore.getQueueLength()).as("queue length").isZero();
        assertThat(SemaphoreProbe.queuedThreads(semaphore)).as("queued threads").isEmpty();
    }

    /** Asserts that nobody wants permits, and that all of them are there and can be had, from every side. */
    final void assertLeftClean(Semaphore semaphore, int permits) {
        assertSettled(semaphore, permits);
        for (Semaphore side : sides(semaphore)) {
            assertNobodyQueued(side);
            guest("next", side, permits, within(patience())).leave();
        }
        assertPermits(semaphore, permits);
    }

    /** An entry with a time-out, which it doesn't give up before. */
    static Entry within(Duration timeout) {
        return (semaphore, permits) -> {
            long begin = System.nanoTime();
            boolean entered = semaphore.tryAcquire(permits, timeout.toNanos(), NANOS);
            if (!entered) {
                assertThat(Duration.ofNanos(System.nanoTime() - begin))
                        .as("time waited")
                        .isGreaterThanOrEqualTo(timeout);
            }
            return entered;
        };
    }

    /** Lets another thread come. */
    final Visitor guest(String name, Semaphore semaphore, int permits, Entry entry) {
        return visitors().visit(name, guests.visit(semaphore, permits, entry));
    }

    /** Lets another thread acquire permits, and returns once it has them. */
    final Visitor hold(Semaphore semaphore, int permits) {
        return guest("holder", semaphore, permits, Way.ACQUIRE::on).awaitIn();
    }

    /** Lets another thread come, and returns once it waits. */
    final Visitor queue(String name, Semaphore semaphore, int permits, Entry entry) {
        Visitor guest = guest(name, semaphore, permits, entry);
        awaitWaiting(semaphore, guest.thread());
        return guest;
    }
}
