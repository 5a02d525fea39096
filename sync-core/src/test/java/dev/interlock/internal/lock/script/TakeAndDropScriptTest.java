package dev.interlock.internal.lock.script;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The cheap ways into and out of a lock that nobody contends for. */
class TakeAndDropScriptTest extends LockScriptTest {
    private static final List<String> CALLED =
            List.of("evalsha", "get", "exists", "hset", "pexpire", "time", "set", "hdel", "publish");

    /**
     * A take draws the first token of a name as well, from the clock; and none below the floor, as after a loss of
     * data.
     */
    @Test
    void takeDrawsTheFirstToken() {
        long first = a.take(1);
        assertThat(first).isGreaterThan(1_000_000_000);
        assertThat(ttl(keys.token())).isBetween(1L, 3_600_000L);
        assertThat(ttl(keys.lock())).isBetween(1L, Contender.LEASE);
        a.release(1);
        long floor = 2 * first;
        assertThat(a.take(2, floor)).isEqualTo(floor);
        a.release(2);
        assertThat(a.take(3)).isEqualTo(floor + 1);
    }

    /**
     * A take owns like an acquire does: same owner, same lease, a greater token; its repeat by acquire changes nothing.
     */
    @Test
    void takeOwnsAFreeLock() {
        long first = a.own(1).token();
        a.release(1);
        long token = a.take(2);
        assertThat(token).isGreaterThan(first);
        assertOwner(a, 2);
        assertThat(ttl(keys.lock())).isBetween(1L, Contender.LEASE);

        Answer repeated = a.acquire(2);
        assertThat(repeated.status()).isEqualTo(Status.GRANTED);
        assertThat(repeated.token()).isEqualTo(token);
        assertThat(a.take(2)).as("a take of what is taken").isZero();
        assertOwner(a, 2);
    }

    /** A take doesn't pass an owner, nor anybody in the queue; it leaves no trace then. */
    @Test
    void takePassesNobody() {
        a.own(1);
        assertThat(b.take(1)).isZero();
        b.queue(1);
        expire();
        assertThat(c.take(1)).as("past the queue").isZero();
        assertThat(owners()).isEmpty();
        assertQueue(b.ticket(1));
        assertThat(c.acquire(1).status()).as("the take has used nothing up").isEqualTo(Status.QUEUED);
    }

    /** A take that arrives after its release, or after a cancel that found nothing, is refused. */
    @Test
    void lateTakeIsRefused() {
        a.own(1);
        a.release(1);
        assertThat(a.take(1)).isZero();
        a.release(2);
        assertThat(a.take(2)).isZero();
        assertThat(owners()).isEmpty();
        assertThat(a.take(3)).isPositive();
    }

    /** The same of a name that nobody has used: what refuses the take is all that there is. */
    @Test
    void lateTakeOfANewNameIsRefused() {
        a.release(1);
        assertThat(a.take(1)).isZero();
        assertThat(owners()).isEmpty();
        assertThat(a.take(2)).isPositive();
    }

    /** What an uncontended pair has Redis do, the two scripts included; it is less for a name that nobody has used. */
    @Test
    void pairCostsTwelveCallsAtMost() {
        a.take(1);
        a.drop(1);
        server.command("FLUSHALL");
        long before = calls();
        long token = a.take(2);
        a.drop(2);
        assertThat(calls() - before).as("of a new name").isEqualTo(11);
        before = calls();
        a.take(3, token + 1);
        a.drop(3);
        assertThat(calls() - before).as("of a known name").isEqualTo(12);
    }

    private static long calls() {
        return CALLED.stream().mapToLong(server::commandCalls).sum();
    }

    /** A drop frees the lock, leaves the mark and tells plain RLock clients; asked again, release says so. */
    @Test
    void dropFreesALockThatNobodyWaitsFor() throws InterruptedException {
        a.own(1);
        assertThat(a.drop(1)).isTrue();
        assertThat(owners()).isEmpty();
        assertThat(announcements()).containsExactly("0");
        assertThat(a.acquire(1).status()).as("a late duplicate").isEqualTo(Status.OVER);
        assertThat(a.drop(1)).isFalse();
        assertThat(a.release(1)).isEqualTo(Contender.TENURE);
    }

    /** A cancel that came before the drop of an older sequence still refuses the request that it cancelled. */
    @Test
    void dropLowersNoMark() {
        a.own(1);
        a.release(2);
        assertThat(a.drop(1)).isTrue();
        assertThat(a.take(2)).isZero();
        assertThat(a.acquire(2).status()).isEqualTo(Status.OVER);
    }

    /** A drop does nothing where release has to hand over, nor to what it doesn't own. */
    @Test
    void dropLeavesTheRestToRelease() {
        a.own(1);
        assertThat(b.drop(1)).isFalse();
        b.queue(2);
        assertThat(a.drop(1)).isFalse();
        assertOwner(a, 1);
        assertThat(a.release(1)).isEqualTo(Contender.TENURE);
        assertOwner(b, 2);
    }
}
