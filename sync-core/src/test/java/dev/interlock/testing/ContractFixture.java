package dev.interlock.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;

/**
 * What the contract of any synchronizer asks of a subclass, and the means its tests share.
 *
 * <p>A test that involves several threads runs once per {@link Contender}: against threads that use the same object
 * and, where {@link #rivalOf} knows one, against threads of another session. One instance serves all tests of a class,
 * so that {@link #contenders()} can ask it; hence {@link #sample} and {@link #rivalOf} must work as soon as
 * {@code @BeforeAll} has run, before any {@code @BeforeEach}.
 *
 * @param <S> the JDK class whose contract it is
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
// In a thread of its own, since an interrupt wouldn't end a wait that hangs and ignores it.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class ContractFixture<S> {

    /** Who competes with the object under test. */
    public enum Contender {
        SAME_OBJECT,
        OTHER_SESSION
    }

    private static final Set<Thread.State> BLOCKED =
            EnumSet.of(Thread.State.BLOCKED, Thread.State.WAITING, Thread.State.TIMED_WAITING);

    private TestThreads threads;
    private Visitors visitors;

    /** An object that nobody has used and that no other test will use. */
    protected abstract S sample();

    /** An object of another session for the same state as {@code own}; the same, or an equal one, at every call. */
    protected Optional<S> rivalOf(S own) {
        return Optional.empty();
    }

    /** Whether the objects under test are fair. */
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

    /** How many times a test of exclusion lets several threads enter between them. */
    protected int crowd() {
        return 1_000;
    }

    @BeforeEach
    public final void beginThreads() {
        threads = new TestThreads(patience());
        visitors = new Visitors(threads, patience(), shortWait());
    }

    @AfterEach
    public final void endThreads() {
        visitors.letAllGo();
        threads.close();
    }

    protected final TestThreads threads() {
        return threads;
    }

    protected final Visitors visitors() {
        return visitors;
    }

    protected final boolean deviates(Deviation deviation) {
        return deviations().contains(deviation);
    }

    /** Whether waiters enter in the order of their arrival. */
    protected final boolean fifo(Contender contender) {
        return fair() && (contender == Contender.SAME_OBJECT || !deviates(Deviation.NO_FIFO_ACROSS_SESSIONS));
    }

    /** Not a constant: without a rival the other half isn't there at all, rather than skipped. */
    protected final Stream<Contender> contenders() {
        return rivalOf(sample()).isPresent() ? Stream.of(Contender.values()) : Stream.of(Contender.SAME_OBJECT);
    }

    /** Each contender with each of these. */
    protected final Stream<Arguments> contendersWith(Object... ways) {
        return contenders().flatMap(contender -> Stream.of(ways).map(way -> Arguments.of(contender, way)));
    }

    /** The object through which a contender uses what {@code own} stands for. */
    protected final S sideOf(Contender contender, S own) {
        return contender == Contender.SAME_OBJECT ? own : rivalOf(own).orElseThrow();
    }

    /** All objects that stand for the same as {@code own}. */
    protected final List<S> sides(S own) {
        return contenders().map(contender -> sideOf(contender, own)).toList();
    }

    protected final ConditionFactory await(String what) {
        return Awaitility.await(what)
                .atMost(patience())
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1));
    }

    /** Returns once {@code waiter} waits: there is {@code proof} of it, or it has been blocked for a short wait. */
    protected final void awaitBlocked(Thread waiter, BooleanSupplier proof) {
        long[] blockedSince = {System.nanoTime()};
        await(waiter.getName() + " waits").until(() -> {
            Thread.State state = waiter.getState();
            assertThat(state).as(waiter.getName() + ", which should wait,").isNotEqualTo(Thread.State.TERMINATED);
            if (!BLOCKED.contains(state)) {
                blockedSince[0] = System.nanoTime();
            }
            return proof.getAsBoolean()
                    || System.nanoTime() - blockedSince[0] >= shortWait().toNanos();
        });
    }
}
