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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
            // Those that come within 10 ms of each other may change places.
            await("apart").pollDelay(Duration.ofMillis(20)).until(() -> true);
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
}
