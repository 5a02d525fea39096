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
    void whoWaitsIsHeardAndLearnsTheLeaseOfTheOwner() {
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
    void manyAreAnsweredInTheirOrder() {
        a.own(1);
        b.queue(2);
        assertThat(b.heartbeat(SECOND, "3:" + LEASE, "*" + SECOND))
                .satisfiesExactly(
                        first -> assertThat(first).isPositive(),
                        unknown -> assertThat(unknown).isZero(),
                        last -> assertThat(last).isPositive());
    }

    @Test
    void whoDoesNotStandInTheQueueHasToAskAndIsNotHeard() {
        a.own(1);
        c.queue(1);
        assertThat(b.heartbeat(SECOND)).isEqualTo(ASK);
        assertThat(list("ZRANGE", keys.waiters(), "0", "-1")).containsExactly(c.id);
    }

    /** Another lease makes another ticket. */
    @Test
    void aTicketIsKnownByAllItsTerms() {
        a.own(1);
        b.queue(2);
        assertThat(b.heartbeat("2:3000")).isEqualTo(ASK);
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
    void theKeysOfOneWhoWaitsLiveOn() {
        a.own(1);
        b.queue(2);
        List<String> prolonged = List.of(keys.queue(), keys.waiters(), keys.mark(b.id));
        prolonged.forEach(key -> redis("PEXPIRE", key, "9000"));
        b.heartbeat(SECOND);
        assertThat(prolonged).allSatisfy(key -> assertThat(ttl(key)).isGreaterThan(9_000));
    }

    /** A session that is silent about a name need not have its keys prolonged whenever it speaks. */
    @Test
    void keysThatLiveForLongEnoughAreLeftAlone() {
        a.own(1);
        b.queue(2);
        List<String> kept = List.of(keys.queue(), keys.waiters(), keys.mark(b.id));
        kept.forEach(key -> redis("PEXPIRE", key, "9000"));
        assertThat(b.heartbeat("*-" + SECOND)).singleElement().isNotEqualTo(0L);
        assertThat(kept).allSatisfy(key -> assertThat(ttl(key)).isBetween(1L, 9_000L));
        b.heartbeat("*" + SECOND);
        assertThat(kept).allSatisfy(key -> assertThat(ttl(key)).isGreaterThan(60_000));
    }

    /** Or that key would stay for ever. */
    @Test
    void whoWasForgottenIsNotHeardWithoutAnExpiry() {
        a.own(1);
        b.queue(2);
        redis("DEL", keys.waiters());
        b.heartbeat("*-" + SECOND);
        assertThat(ttl(keys.waiters())).isGreaterThan(60_000);
    }

    /** A session of which nothing is heard any more is forgotten sooner or later. */
    @Test
    void theDeadAreForgotten() {
        inLine(a, b, dead);
        die(dead);
        b.heartbeat("1:" + LEASE);
        assertThat(list("ZRANGE", keys.waiters(), "0", "-1")).containsExactly(b.id);
    }

    // ---- sessions that are silent about the name

    private static void goSilent(Contender session) {
        session.beat(1);
        session.heartbeat("*1:" + LEASE);
    }

    @Test
    void whoIsSilentLivesAsLongAsItsHeartbeat() {
        inLine(a, b, c);
        goSilent(b);
        assertThat(list("ZRANGE", keys.waiters(), "0", "-1", "WITHSCORES")).contains(b.id, "inf");
        assertThat(ttl(b.heartbeatKey())).isBetween(1L, 3_000L);
        redis("DEL", b.heartbeatKey());
        a.release(1);
        assertOwner(c, 1);
    }

    @Test
    void whoIsSilentIsGrantedTheLockWhileItLives() {
        inLine(a, b, c);
        goSilent(b);
        a.release(1);
        assertOwner(b, 1);
    }

    /** A request of its own says, too, that it lives. */
    @Test
    void whoAsksMoreThanThatLives() {
        inLine(a, b, c);
        goSilent(b);
        redis("DEL", b.heartbeatKey());
        b.request(1).send();
        assertThat(ttl(b.heartbeatKey())).isBetween(1L, 3_000L);
        a.release(1);
        assertOwner(b, 1);
    }

    /** Or nobody would ask for long, should the new owner be dead. */
    @Test
    void aGrantWakesOneOfTheSilent() throws InterruptedException {
        inLine(a, b, c);
        goSilent(c);
        a.release(1);
        assertOwner(b, 1);
        assertThat(letters(c)).contains("p 1000 " + keys.lock());
        assertThat(list("ZRANGE", keys.waiters(), "0", "-1", "WITHSCORES")).doesNotContain("inf");
        b.queue(2);
        b.release(1);
        assertThat(letters(c)).singleElement().asString().startsWith("g ");
    }

    /** Readers are granted the lock together: woken is one that still waits. */
    @Test
    void whoReadsIsNotWoken() throws InterruptedException {
        a.own(1);
        for (Contender reader : List.of(b, c)) {
            reader.request(1).reading().send();
            reader.beat(1);
            reader.heartbeat("*1:" + LEASE + ":r");
        }
        dead.queue(1);
        goSilent(dead);
        a.release(1);
        assertThat(owners()).containsExactlyInAnyOrder(b.id + ":r", c.id + ":r");
        assertThat(letters(dead)).contains("p 1000 " + keys.lock());
        assertThat(list("ZRANGE", keys.waiters(), "0", "-1", "WITHSCORES")).doesNotContain("inf");
    }

    @Test
    void theDeadAreNotWoken() {
        inLine(a, b, c);
        goSilent(c);
        redis("DEL", c.heartbeatKey());
        a.release(1);
        assertOwner(b, 1);
        assertThat(list("ZRANGE", keys.waiters(), "0", "-1")).containsExactly(b.id);
    }

    /** Or it would be woken instead of one that waits. */
    @Test
    void whoWaitsNoMoreIsSilentNoMore() {
        inLine(a, b, c, dead);
        goSilent(b);
        goSilent(c);
        a.release(1);
        assertOwner(b, 1);
        c.release(1);
        assertThat(list("ZRANGE", keys.waiters(), "0", "-1", "WITHSCORES")).doesNotContain("inf");
    }

    @Test
    void aSessionLearnsWhetherItWasTakenToBeDead() {
        assertThat(a.beat(1)).isFalse();
        assertThat(a.beat(2)).isTrue();
    }

    @Test
    void aHeartbeatIsEchoed() throws InterruptedException {
        a.beat(7);
        a.beat(8);
        assertThat(letters(a)).containsExactly("h 7 ", "h 8 ");
    }
}
