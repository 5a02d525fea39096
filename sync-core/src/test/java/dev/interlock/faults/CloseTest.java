package dev.interlock.faults;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A session is closed: it ends each wait, gives back what its threads have, and refuses whatever they call later. */
class CloseTest extends WaitFixture {
    private Predicate<Wait> chosen = wait -> true;

    /** close() waits for one during an outage. */
    @Override
    protected Duration commandTimeout() {
        return COMMAND_TIMEOUT;
    }

    @Override
    Predicate<Wait> chosen() {
        return chosen;
    }

    private void close() {
        mine().session().close();
        mine().quorum().close();
    }

    private static void assertSentAway(List<Begun> all) {
        awaitEnds(all);
        assertFail(all, IllegalStateException.class, "(?s).*closed.*");
        assertThat(all).noneMatch(one -> one.failure() instanceof LeaseLostException);
    }

    /** Nothing of them is left that others would have to pass over. */
    @Test
    void closeEndsEachWait() {
        List<Actor> others = others();
        List<Begun> waiting = beginToWait(others);
        close();
        assertSentAway(waiting);
        waits().stream()
                .filter(wait -> wait.kind() != Wait.Kind.LATCH && !wait.kind().isRedissons())
                .forEach(wait ->
                        await(wait + " is over").until(() -> !wait.steps().isWaiting()));
        giveAll(others);
    }

    /** An unreachable Redis costs close() a bounded time, and threads that wait an exception. */
    @Test
    @Tag("proof")
    void closeEndsEachWaitDuringAnOutage() {
        List<Begun> waiting = beginToWait(others());
        proxies().forEach(FaultProxy::stall);
        long begun = Monotonic.nanos();
        close();
        // Both sessions say their last words once.
        assertWithin(COMMAND_TIMEOUT.multipliedBy(2).plus(SLACK), Duration.ofNanos(Monotonic.nanos() - begun));
        assertSentAway(waiting);
    }

    /** Those that wait for it get in at once, and the threads that had it are told. */
    @Test
    void closeGivesBackWhatThreadsHave() {
        exchange();
        chosen = wait -> wait.kind().isHeldBySession();
        List<Actor> holders = others();
        List<Begun> waiting = beginToWait(holders);
        close();
        assertGetIn(waiting);
        forEachWait(
                holders,
                (wait, holder) -> assertThatThrownBy(() -> holder.ask(() -> {
                                    wait.steps().give();
                                    return true;
                                })
                                .get())
                        .as(wait.what())
                        .hasCauseInstanceOf(LeaseLostException.class));
    }

    @Test
    void eachCallAfterCloseIsRefused() {
        // A thread that holds a lock hears that this is lost.
        assertFail(callAll(Duration.ofHours(1), this::close), RuntimeException.class, "(?s).*closed.*");
    }

    /** While a holder has time to give back what it has, others wait for nothing that it wouldn't live to give back. */
    @Test
    void closeWithTimeForHoldersSendsAwayThoseThatWaitForLocksAndPermits() {
        Interlock session = mine().session();
        var held = session.lock("held");
        Actor holder = actor("holder");
        holder.run(held::lock);
        chosen = wait -> wait.kind() == Wait.Kind.LOCK || wait.kind() == Wait.Kind.SEMAPHORE;
        List<Actor> others = others();
        List<Begun> waiting = beginToWait(others);
        CompletableFuture<Boolean> closed = actor("closer").begin(() -> session.close(Duration.ofMinutes(10)));
        assertSentAway(waiting);
        assertThat(closed).isNotDone();
        holder.run(held::unlock);
        assertThat(closed).succeedsWithin(PATIENCE);
        giveAll(others);
    }
}
