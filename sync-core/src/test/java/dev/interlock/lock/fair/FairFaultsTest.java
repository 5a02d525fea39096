package dev.interlock.lock.fair;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A fair lock when answers, messages, threads and sessions get lost: nobody hangs, nothing is left, and the order
 * stays.
 */
class FairFaultsTest extends FaultFixture {
    private static final String NAME = "stock";

    /** Far from a pulse, which is a second. */
    private static final Duration AT_ONCE = Duration.ofMillis(250);

    private final TestReporter reporter;

    FairFaultsTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    private DistributedReentrantLock fair(Interlock session) {
        return free(session.fairLock(NAME));
    }

    /** Has Redis know all scripts that these tests wait for. */
    @BeforeEach
    void contend() {
        DistributedReentrantLock held = fair(undisturbed());
        DistributedReentrantLock wanted = fair(undisturbed());
        Actor other = actor("contender");
        held.lock();
        CompletableFuture<Boolean> entered = other.begin(wanted::lock);
        awaitTickets(NAME, 1);
        held.unlock();
        assertThat(entered).succeedsWithin(PATIENCE);
        other.run(wanted::unlock);
        awaitFree(NAME);
    }

    static Stream<Loss> losses() {
        return Stream.of(Loss.CUT, Loss.MUTE);
    }

    /** Three threads whose common request is answered to nobody have one place each, and enter in their order. */
    @ParameterizedTest
    @MethodSource("losses")
    void placesSurviveALostReply(Loss loss) {
        DistributedReentrantLock held = fair(undisturbed());
        // A command on a silent connection has to time out.
        DistributedReentrantLock wanted = fair(impatient());
        held.lock();
        proxy().dropReplies(Requests.acquire(NAME), 1, loss);
        List<Actor> waiters = List.of(actor("first"), actor("second"), actor("third"));
        List<CompletableFuture<Boolean>> entered = new ArrayList<>();
        for (Actor waiter : waiters) {
            entered.add(waiter.begin(wanted::lock));
            await("in line")
                    .until(() -> wanted.getQueueLength() == Math.max(0, entered.size() - 1)
                            && (entered.size() > 1 || dropped() > 0));
        }
        await("a place each").until(() -> tickets(NAME) == waiters.size());
        held.unlock();
        long token = 0;
        for (int i = 0; i < waiters.size(); i++) {
            assertThat(entered.get(i)).as("waiter %d", i).succeedsWithin(REPEATED);
            long next = waiters.get(i).get(wanted::fencingToken);
            assertThat(next).isGreaterThan(token);
            token = next;
            waiters.get(i).run(wanted::unlock);
        }
        awaitFree(NAME);
    }

    /** A release that is answered to nobody hands the lock over once; the releasing session queues again behind it. */
    @ParameterizedTest
    @MethodSource("losses")
    @Tag("proof")
    void aReleaseWhoseReplyIsLostHandsOverOnce(Loss loss) {
        // A command on a silent connection has to time out.
        Interlock first = impatient();
        Interlock second = undisturbed();
        DistributedReentrantLock held = fair(first);
        DistributedReentrantLock wanted = fair(second);
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(held::lock);
        CompletableFuture<Boolean> entered = waiter.begin(wanted::lock);
        awaitTickets(NAME, 1);
        proxy().dropReplies(Requests.release(NAME), 1, loss);
        CompletableFuture<Boolean> back = holder.begin(() -> {
            held.unlock();
            held.lock();
        });
        assertThat(entered).succeedsWithin(PROMPTLY);
        awaitTickets(NAME, 1);
        String owner = holder(NAME);
        assertThat(owner).startsWith(second.id());
        await("repetitions")
                .during(SHORT_TIMEOUT.multipliedBy(2))
                .until(() -> holder(NAME).equals(owner));
        assertThat(back).isNotDone();
        waiter.run(wanted::unlock);
        assertThat(back).succeedsWithin(REPEATED);
        holder.run(held::unlock);
        awaitFree(NAME);
    }

    /** The mailbox of the waiters is gone at the very moment of the grant: they enter by the next pulse. */
    @Test
    void aGrantFindsTheMailboxCutOff() {
        List<DistributedReentrantLock> locks = List.of(fair(session()), fair(session()));
        List<Actor> actors = List.of(actor("first"), actor("second"));
        actors.get(0).run(locks.get(0)::lock);
        int rounds = 20;
        List<Duration> waits = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            int holder = round % 2;
            int waiter = 1 - holder;
            CompletableFuture<Boolean> entered = actors.get(waiter).begin(locks.get(waiter)::lock);
            awaitTickets(NAME, 1);
            killMailboxes();
            long begun = Monotonic.nanos();
            actors.get(holder).run(locks.get(holder)::unlock);
            assertThat(entered).as("round %d", round).succeedsWithin(PATIENCE);
            waits.add(Duration.ofNanos(Monotonic.nanos() - begun));
        }
        assertPulses(waits);
        actors.get(rounds % 2).run(locks.get(rounds % 2)::unlock);
    }

    private static void meet(CyclicBarrier barrier) throws InterruptedException {
        try {
            barrier.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (BrokenBarrierException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * A thread is interrupted at the moment of its grant: it has the lock or it has left, and the one behind it enters.
     */
    @Test
    void anInterruptMeetsTheGrant() throws InterruptedException {
        DistributedReentrantLock held = fair(session());
        DistributedReentrantLock wanted = fair(session());
        Actor holder = actor("holder");
        Actor leaving = actor("leaving");
        Actor behind = actor("behind");
        var barrier = new CyclicBarrier(2);
        int entries = 0;
        for (int round = 0; round < 25; round++) {
            holder.run(held::lock);
            CompletableFuture<Boolean> first = leaving.begin(() -> {
                wanted.lockInterruptibly();
                wanted.assertHeld();
                wanted.unlock();
            });
            awaitTickets(NAME, 1);
            CompletableFuture<Boolean> second = behind.begin(() -> {
                wanted.lock();
                wanted.unlock();
            });
            awaitTickets(NAME, 2);
            CompletableFuture<Boolean> unlocked = holder.begin(() -> {
                meet(barrier);
                held.unlock();
            });
            meet(barrier);
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(60L * round));
            leaving.interrupt();
            assertThat(unlocked).as("round %d", round).succeedsWithin(PATIENCE);
            assertThat(second).as("round %d", round).succeedsWithin(PROMPTLY);
            await("entered or left").until(first::isDone);
            entries += first.isCompletedExceptionally() ? 0 : 1;
            leaving.run(() -> assertThat(Thread.interrupted()).isIn(true, false));
            awaitPromptly("free").until(() -> holder(NAME).isEmpty() && tickets(NAME) == 0);
        }
        reporter.publishEntry(entries + " of 25 entered in spite of the interrupt");
    }

    /** A thread's time is over at about the moment of its grant. */
    @Test
    void aTimeoutMeetsTheGrant() {
        DistributedReentrantLock held = fair(session());
        DistributedReentrantLock wanted = fair(session());
        Actor holder = actor("holder");
        Actor leaving = actor("leaving");
        Actor behind = actor("behind");
        int entries = 0;
        for (int round = 0; round < 25; round++) {
            holder.run(held::lock);
            long waitMillis = 20;
            CompletableFuture<Boolean> first = leaving.ask(() -> {
                boolean entered = wanted.tryLock(waitMillis, TimeUnit.MILLISECONDS);
                if (entered) {
                    wanted.unlock();
                }
                return entered;
            });
            long asked = Monotonic.nanos();
            CompletableFuture<Boolean> second = behind.begin(() -> {
                wanted.lock();
                wanted.unlock();
            });
            // From well before to a little after: the release takes its time, too.
            long offset = TimeUnit.MICROSECONDS.toNanos(200L * (round - 20));
            await("the end of its time")
                    .pollInterval(Duration.ofNanos(100_000))
                    .until(() -> Monotonic.nanos() - asked > TimeUnit.MILLISECONDS.toNanos(waitMillis) + offset);
            holder.run(held::unlock);
            assertThat(second).as("round %d", round).succeedsWithin(PROMPTLY);
            assertThat(first).as("round %d", round).succeedsWithin(PROMPTLY);
            entries += first.join() ? 1 : 0;
            awaitPromptly("free").until(() -> holder(NAME).isEmpty() && tickets(NAME) == 0);
        }
        reporter.publishEntry(entries + " of 25 entered in time");
    }

    /** A thread that has left its place, by interrupt or time-out, costs the next one nothing. */
    @Test
    @Tag("proof")
    void whoHasLeftDelaysNobody() {
        DistributedReentrantLock held = fair(session());
        DistributedReentrantLock left = fair(session());
        DistributedReentrantLock wanted = fair(session());
        Actor leaving = actor("leaving");
        Actor waiter = actor("waiter");
        int rounds = 15;
        List<Long> delays = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            boolean timed = round % 2 == 0;
            held.lock();
            CompletableFuture<Boolean> leaver =
                    leaving.ask(() -> left.tryLock(timed ? 500 : TimeUnit.MINUTES.toMillis(1), TimeUnit.MILLISECONDS));
            awaitTickets(NAME, 1);
            CompletableFuture<Long> entered = waiter.ask(() -> {
                wanted.lock();
                return Monotonic.nanos();
            });
            awaitTickets(NAME, 2);
            if (!timed) {
                leaving.interrupt();
            }
            await("left").until(leaver::isDone);
            long start = Monotonic.nanos();
            held.unlock();
            assertThat(entered).as("round %d", round).succeedsWithin(PATIENCE);
            delays.add(entered.join() - start);
            waiter.run(wanted::unlock);
        }
        delays.sort(null);
        reporter.publishEntry("median " + delays.get(rounds / 2) / 1_000 + " us");
        assertWithin("the median", AT_ONCE, Duration.ofNanos(delays.get(rounds / 2)));
    }

    /**
     * Fixed leases and renewed ones, waits with an end and without: all get through, one at a time, with growing
     * tokens.
     */
    @Test
    void fixedLeasesAmongRenewedOnes() {
        List<DistributedReentrantLock> locks = List.of(fair(session()), fair(session()));
        int[] last = {0};
        long[] token = {0};
        var inside = new AtomicInteger();
        int threads = 8;
        int rounds = 25;
        List<CompletableFuture<Boolean>> ends = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            DistributedReentrantLock lock = locks.get(i % 2);
            int self = i;
            ends.add(actor("actor-" + i).begin(() -> {
                for (int round = 0; round < rounds; round++) {
                    switch ((self / 2 + round) % 3) {
                        case 0 -> lock.lock();
                        case 1 -> lock.lock(20, TimeUnit.SECONDS);
                        default ->
                            assertThat(lock.tryLock(60, 10, TimeUnit.SECONDS)).isTrue();
                    }
                    try {
                        assertThat(inside.incrementAndGet()).isEqualTo(1);
                        lock.assertHeld();
                        assertThat(lock.fencingToken()).isGreaterThan(token[0]);
                        token[0] = lock.fencingToken();
                        last[0]++;
                        inside.decrementAndGet();
                    } finally {
                        lock.unlock();
                    }
                }
            }));
        }
        for (CompletableFuture<Boolean> end : ends) {
            assertThat(end).succeedsWithin(PATIENCE.multipliedBy(3));
        }
        assertThat(last[0]).isEqualTo(threads * rounds);
        awaitFree(NAME);
    }

    /** All threads that wait when their session is closed are told; those of others go on. */
    @Test
    void aSessionIsClosedWhileManyThreadsWait() {
        DistributedReentrantLock held = fair(undisturbed());
        Interlock closed = session();
        DistributedReentrantLock wanted = closed.fairLock(NAME);
        DistributedReentrantLock other = fair(session());
        held.lock();
        List<CompletableFuture<Boolean>> waits = IntStream.range(0, 16)
                .mapToObj(i -> actor("waiter-" + i).begin(wanted::lock))
                .toList();
        awaitTickets(NAME, waits.size());
        Actor late = actor("late");
        CompletableFuture<Boolean> entered = late.begin(other::lock);
        awaitTickets(NAME, waits.size() + 1);
        closed.close();
        for (CompletableFuture<Boolean> wait : waits) {
            assertThat(wait).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(IllegalStateException.class);
        }
        assertThat(entered).isNotDone();
        held.unlock();
        assertThat(entered).succeedsWithin(PROMPTLY);
        late.run(other::unlock);
    }
}
