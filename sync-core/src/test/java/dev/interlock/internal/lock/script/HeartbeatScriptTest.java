package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;

/** What heartbeat does for those who wait behind another session, and when it has them ask for more. */
class HeartbeatScriptTest extends LockScriptTest {
    private static final String SECOND = "2:" + LEASE;
    private static final List<Long> ASK = List.of(0L);

    /** When the heartbeat of a session ends. */
    private long aliveUntil(Contender session) {
        return number("ZSCORE", keys.waiters(), session.id);
    }

    @Test
    void heartbeatKeepsAWaiterAliveAndTellsTheLeaseOfTheOwner() {
        a.own(1);
        redis("PEXPIRE", keys.lock(), "9000");
        b.queue(2);
        die(b);
        assertThat(b.heartbeat(SECOND))
                .singleElement()
                .satisfies(ttl -> assertThat(ttl).isBetween(1L, 9_000L));
        assertThat(aliveUntil(b)).isGreaterThan(1);
        a.release(1);
        assertOwner(b, 2);
    }

    /** Which name it is whose answer is another one is told by its place. */
    @Test
    void heartbeatsOfManyNamesAreAnsweredInTheirOrder() {
        a.own(1);
        b.queue(2);
        assertThat(b.heartbeat(SECOND, "3:" + LEASE, SECOND))
                .satisfiesExactly(
                        first -> assertThat(first).isPositive(),
                        unknown -> assertThat(unknown).isZero(),
                        last -> assertThat(last).isPositive());
    }

    @Test
    void sessionWithoutATicketHasToAsk() {
        a.own(1);
        c.queue(1);
        assertThat(b.heartbeat(SECOND)).isEqualTo(ASK);
        assertThat(list("ZRANGE", keys.waiters(), "0", "-1")).containsExactly(c.id);
    }

    @Test
    void aLockThatIsFreeHasToBeAskedFor() {
        inLine(a, b);
        expire();
        assertThat(b.heartbeat("1:" + LEASE)).isEqualTo(ASK);
        assertThat(owners()).isEmpty();
    }

    /** The grant of a fair lock to another thread of the same session may have been lost on its way. */
    @Test
    void aLockOfTheSessionItselfHasToBeAskedFor() {
        a.own(1);
        a.requests(2L).send();
        assertThat(a.heartbeat(SECOND)).isEqualTo(ASK);
    }

    /** Redisson's channel tells when such a lock is free, and only acquire says that there is something to hear. */
    @Test
    void aLockOfAPlainClientHasToBeAskedFor() {
        RLock lock = redisson.getLock(keys.lock());
        lock.lock();
        b.queue(2);
        assertThat(b.heartbeat(SECOND)).isEqualTo(ASK);
        lock.unlock();
    }

    /** The lease of each reader ends by itself, which only acquire looks after. */
    @Test
    void aLockThatIsReadHasToBeAskedFor() {
        a.read(1);
        b.queue(2);
        assertThat(b.heartbeat(SECOND)).isEqualTo(ASK);
    }

    @Test
    void heartbeatProlongsTheKeysOfAWaiter() {
        a.own(1);
        b.queue(2);
        List<String> prolonged = List.of(keys.queue(), keys.waiters(), keys.mark(b.id));
        prolonged.forEach(key -> redis("PEXPIRE", key, "9000"));
        b.heartbeat(SECOND);
        assertThat(prolonged).allSatisfy(key -> assertThat(ttl(key)).isGreaterThan(9_000));
    }

    /** That takes as many calls as all else that is to be done. */
    @Test
    void keysThatLiveForLongEnoughAreLeftAlone() {
        a.own(1);
        b.queue(2);
        b.heartbeat(SECOND);
        List<String> kept = List.of(keys.queue(), keys.waiters());
        kept.forEach(key -> redis("PEXPIRE", key, "80000"));
        assertThat(b.heartbeat(SECOND)).singleElement().isNotEqualTo(0L);
        assertThat(kept).allSatisfy(key -> assertThat(ttl(key)).isBetween(1L, 80_000L));
    }

    /** Other sessions prolong the keys that they share, but not the mark. */
    @Test
    void theMarkOfASessionLivesOnWhereOthersProlongTheRest() {
        a.own(1);
        b.queue(2);
        b.heartbeat(SECOND);
        redis("PEXPIRE", keys.mark(b.id), "500000");
        b.heartbeat(SECOND);
        assertThat(ttl(keys.mark(b.id))).isGreaterThan(500_000);
    }

    /** Or that key would stay for ever. */
    @Test
    void heartbeatThatMakesItsKeyAnewSetsATtl() {
        a.own(1);
        b.queue(2);
        redis("DEL", keys.waiters());
        b.heartbeat(SECOND);
        assertThat(ttl(keys.waiters())).isGreaterThan(60_000);
    }

    /** A session of which nothing is heard any more is forgotten sooner or later. */
    @Test
    void heartbeatForgetsDeadSessions() {
        inLine(a, b, dead);
        die(dead);
        b.heartbeat("1:" + LEASE);
        assertThat(list("ZRANGE", keys.waiters(), "0", "-1")).containsExactly(b.id);
    }
}
