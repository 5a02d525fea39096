package dev.interlock.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.semaphore.Guests.Entry;
import dev.interlock.semaphore.Guests.Guest;
import dev.interlock.testing.TestThreads;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;

/**
 * What {@link SemaphoreContract} asks of a subclass, and the means its tests share.
 *
 * <p>A test that involves several threads runs once per {@link Contender}: against threads that use the same semaphore
 * object and, where {@link #rivalOf} knows one, against threads of another session. One instance serves all tests of a
 * class, so that {@link #contenders()} can ask it; hence {@link #newSemaphore} and {@link #rivalOf} must work as soon
 * as {@code @BeforeAll} has run, before any {@code @BeforeEach}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
// In a thread of its own, since an interrupt wouldn't end an acquireUninterruptibly() that hangs.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class SemaphoreFixture {

    /** Who competes with the semaphore under test. */
    enum Contender {
        SAME_OBJECT,
        OTHER_SESSION
    }

    static final List<Way> INTERRUPTIBLE_WAITS = List.of(Way.ACQUIRE, Way.TIMED);
    static final List<Way> WAITS = List.of(Way.ACQUIRE, Way.UNINTERRUPTIBLY, Way.TIMED);
    static final TimeUnit NANOS = TimeUnit.NANOSECONDS;

    private TestThreads threads;
    private Guests guests;

    /** A semaphore that nobody has used and that no other test will use. */
    protected abstract Semaphore newSemaphore(int permits);

    /** A semaphore object of another session with the same permits; the same, or an equal one, at every call. */
    protected Optional<Semaphore> rivalOf(Semaphore semaphore) {
        return Optional.empty();
    }

    /** Whether {@link #newSemaphore} makes fair ones. */
    protected boolean fair() {
        return false;
    }

    protected Set<Deviation> deviations() {
        return EnumSet.noneOf(Deviation.class);
    }

    /** The longest that anything may take which has to happen. */
    protected Duration patience() {
        return Duration.ofSeconds(20);
    }

    /** How long tests watch for what must not happen, and let a timeout run. No single operation takes so long. */
    protected Duration shortWait() {
        return Duration.ofMillis(40);
    }

    /** How many times a test of exclusion lets several threads acquire between them. */
    protected int crowd() {
        return 1_000;
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
    final void beginThreads() {
        threads = new TestThreads(patience());
        guests = new Guests(threads, patience(), shortWait());
    }

    @AfterEach
    final void endThreads() {
        guests.letAllGo();
        threads.close();
    }

    final TestThreads threads() {
        return threads;
    }

    final Guests guests() {
        return guests;
    }

    final boolean deviates(Deviation deviation) {
        return deviations().contains(deviation);
    }

    /** Whether waiters enter in the order of their arrival. */
    final boolean fifo(Contender contender) {
        return fair() && (contender == Contender.SAME_OBJECT || !deviates(Deviation.NO_FIFO_ACROSS_SESSIONS));
    }

    /** Whether a request that could be served waits behind a larger one that can't. */
    final boolean smallWaitsBehindLarge(Contender contender) {
        return fair()
                || deviates(Deviation.SMALL_WAITS_BEHIND_LARGE)
                || (contender == Contender.SAME_OBJECT && deviates(Deviation.SMALL_WAITS_BEHIND_LARGE_OF_ITS_SESSION));
    }

    /** Not a constant: without a rival the other half isn't there at all, rather than skipped. */
    final Stream<Contender> contenders() {
        return rivalOf(newSemaphore(1)).isPresent() ? Stream.of(Contender.values()) : Stream.of(Contender.SAME_OBJECT);
    }

    final Stream<Arguments> contendersAndCounts() {
        return contenders().flatMap(contender -> Stream.of(1, 3).map(count -> Arguments.of(contender, count)));
    }

    final Stream<Arguments> contendersAndWays() {
        return contendersBy(List.of(Way.values()));
    }

    final Stream<Arguments> contendersAndWaits() {
        return contendersBy(WAITS);
    }

    final Stream<Arguments> contendersAndInterruptibleWaits() {
        return contendersBy(INTERRUPTIBLE_WAITS);
    }

    private Stream<Arguments> contendersBy(List<Way> ways) {
        return contenders().flatMap(contender -> ways.stream().map(way -> Arguments.of(contender, way)));
    }

    /** A semaphore of which guests may hold that many permits between them. */
    final Semaphore semaphore(int permits) {
        guests.limit(permits);
        return newSemaphore(permits);
    }

    /** The object through which a contender uses the permits of {@code semaphore}. */
    final Semaphore sideOf(Contender contender, Semaphore semaphore) {
        return contender == Contender.SAME_OBJECT
                ? semaphore
                : rivalOf(semaphore).orElseThrow();
    }

    /** All objects with these permits. */
    final List<Semaphore> sides(Semaphore semaphore) {
        return contenders().map(contender -> sideOf(contender, semaphore)).toList();
    }

    final ConditionFactory await(String what) {
        return Awaitility.await(what)
                .atMost(patience())
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1));
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
    final Guest guest(String name, Semaphore semaphore, int permits, Entry entry) {
        return guests.invite(name, semaphore, permits, entry);
    }

    /** Lets another thread acquire permits, and returns once it has them. */
    final Guest hold(Semaphore semaphore, int permits) {
        return guest("holder", semaphore, permits, Way.ACQUIRE::on).awaitIn();
    }

    /** Lets another thread come, and returns once it waits. */
    final Guest queue(String name, Semaphore semaphore, int permits, Entry entry) {
        Guest guest = guest(name, semaphore, permits, entry);
        awaitWaiting(semaphore, guest.thread());
        return guest;
    }
}
