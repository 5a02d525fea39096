package dev.interlock.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Visitors.Visitor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
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
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class ContractFixture<S> {

    /** What the object under test contends with. */
    public enum Contender {
        SAME_OBJECT,
        OTHER_SESSION
    }

    private static final Set<Thread.State> BLOCKED =
            EnumSet.of(Thread.State.BLOCKED, Thread.State.WAITING, Thread.State.TIMED_WAITING);

    private @Nullable TwoSessions sessions;
    private TestThreads threads;
    private Visitors visitors;

    /** An object that nobody has used and that no other test will use. */
    protected abstract S sample();

    /** Says which sessions have the objects under test; the fixture closes them. */
    protected final TwoSessions underTest(TwoSessions both) {
        sessions = both;
        return both;
    }

    /** An object of another session for the same state as {@code own}; the same, or an equal one, at every call. */
    protected Optional<S> rivalOf(S own) {
        return sessions == null ? Optional.empty() : sessions.rivalOf(own);
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
        return Duration.ofSeconds(40);
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

    @AfterAll
    public final void closeSessions() {
        if (sessions != null) {
            sessions.close();
        }
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

    /** Asserts that a thread goes on waiting. */
    protected final void assertNotYet(Running<?> waiter) {
        assertThat(waiter.endsWithin(shortWait())).as("returned too early").isFalse();
    }

    /** These deviations, and more. */
    protected static Set<Deviation> and(Set<Deviation> some, Deviation... more) {
        Set<Deviation> all = EnumSet.copyOf(some);
        all.addAll(List.of(more));
        return all;
    }

    /** Has all leave whom the holder has kept out, when that has left. */
    protected static void letIn(Visitor holder, List<Visitor> waiters) {
        waiters.forEach(Visitor::letGo);
        holder.leave();
        waiters.forEach(Visitor::leave);
    }

    /** A timed attempt. */
    @FunctionalInterface
    protected interface Attempt {
        boolean within(long timeout, TimeUnit unit) throws InterruptedException;
    }

    /** Asserts that an attempt fails that has no time, however that is said, and what holds after each. */
    protected static void assertInVainWithoutTime(Attempt attempt, Runnable afterwards) throws InterruptedException {
        for (long timeout : new long[] {0, -1, Long.MIN_VALUE}) {
            for (TimeUnit unit : List.of(TimeUnit.NANOSECONDS, TimeUnit.DAYS)) {
                assertThat(attempt.within(timeout, unit))
                        .as("%d %s", timeout, unit)
                        .isFalse();
                afterwards.run();
            }
        }
    }

    /** Asserts that what this thread does with its interrupt flag set throws, and clears the flag. */
    protected static void assertThrowsInterrupted(TestThreads.Action acquisition) {
        Thread.currentThread().interrupt();
        assertThatThrownBy(acquisition::run).isExactlyInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).as("flag").isFalse();
    }

    /**
     * Asserts in which order waiters, alternately of both sides, have entered: all of them, and as fair as promised.
     */
    protected final void assertOrder(Contender contender, List<Integer> entered, int waiters) {
        List<Integer> arrived = IntStream.range(0, waiters).boxed().toList();
        assertThat(entered).containsExactlyInAnyOrderElementsOf(arrived);
        if (fifo(contender)) {
            assertThat(entered).isEqualTo(arrived);
        } else if (fair()) {
            assertThat(entered.stream().filter(place -> place % 2 == 0)).isSorted();
            assertThat(entered.stream().filter(place -> place % 2 == 1)).isSorted();
        }
    }

    /** Starts threads that do the same, alternately by way of both sides. */
    protected final <T> List<Running<T>> startCrowd(int threads, S here, S there, Role<S, T> role) {
        return IntStream.range(0, threads)
                .mapToObj(member ->
                        threads().start("member " + member, () -> role.play(member, member % 2 == 0 ? here : there)))
                .toList();
    }

    /** What a member of a crowd does. */
    @FunctionalInterface
    protected interface Role<S, T> {
        T play(int member, S mine) throws Exception;
    }

    /** Interrupts all of a crowd again and again, until they have done what they had to. */
    protected final void interruptUntilDone(List<? extends Running<?>> crowd) {
        long deadline = System.nanoTime() + patience().toNanos();
        while (crowd.stream().anyMatch(member -> member.thread().isAlive()) && System.nanoTime() < deadline) {
            crowd.forEach(member -> {
                member.thread().interrupt();
                LockSupport.parkNanos(100_000);
            });
        }
    }

    /** Asserts that an object is written to a stream, and returns what is read from it, or that it refuses to be. */
    protected final <T> Optional<T> copy(T original) throws IOException, ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ObjectOutputStream out = new ObjectOutputStream(bytes);
        if (deviates(Deviation.NOT_SERIALIZABLE)) {
            assertThatThrownBy(() -> out.writeObject(original)).isInstanceOf(ObjectStreamException.class);
            return Optional.empty();
        }
        out.writeObject(original);
        Object copy = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
        @SuppressWarnings("unchecked") // A copy is of the same class.
        T same = (T) copy;
        return Optional.of(same);
    }

    /** Asserts that an object's text tells a state in the JDK's words, to the letter unless it may differ. */
    protected final void assertDescribed(Object described, String state) {
        String jdk = described.getClass().getName() + "@" + Integer.toHexString(described.hashCode()) + state;
        if (deviates(Deviation.TO_STRING_DIFFERS)) {
            assertThat(described.toString()).isNotEqualTo(jdk).contains(state);
        } else {
            assertThat(described).hasToString(jdk);
        }
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
