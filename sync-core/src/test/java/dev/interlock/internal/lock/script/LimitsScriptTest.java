package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.TENURE;
import static dev.interlock.internal.lock.script.Contender.TICKET;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.redis.Script;
import dev.interlock.testing.RespError;
import org.junit.jupiter.api.Test;

/** What the scripts leave behind in Redis and for how long, and what they do where that isn't theirs, or full. */
class LimitsScriptTest extends LockScriptTest {

    /** Each key has a TTL at all times, and no other keys come to be. */
    @Test
    void everyKeyHasATtl() {
        a.own(1);
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token());
        b.queue(1);
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token(), keys.queue(), keys.waiters(), b.mark());
        assertThat(ttls().values()).allSatisfy(ttl -> assertThat(ttl).isPositive());
        a.request(2).continuing(1).send();
        assertThat(ttls().values()).allSatisfy(ttl -> assertThat(ttl).isPositive());
        a.release(2);
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token(), a.mark(), b.mark());
        assertThat(ttls().values()).allSatisfy(ttl -> assertThat(ttl).isPositive());
    }

    /** Java and the scripts mean the same heartbeat. */
    @Test
    void heartbeatIsTheSameToJavaAndToLua() {
        assertThat(Script.load("lock/acquire").text().lines())
                .contains("local heartbeatMillis = " + Ticket.HEARTBEAT_MILLIS);
    }

    /** A mark outlives the lease by minutes, so that it outlives what is delayed on its way. */
    @Test
    void marksOutliveTheLease() {
        a.own(1);
        b.request(1).lease(3_600_000).send();
        assertThat(ttl(b.mark())).isGreaterThan(3_600_000 + 120_000);
        assertThat(b.release(1, 3_600_000, 1)).isEqualTo(TICKET);
        assertThat(ttl(b.mark())).isGreaterThan(3_600_000 + 120_000);
    }

    /** A key of another kind under the lock's name is an error, reported before anything is written. */
    @Test
    void keyOfAnotherKindIsRefusedBeforeAnythingIsWritten() {
        redis("SET", keys.lock(), "mine");
        assertThatThrownBy(() -> a.acquire(1)).isInstanceOf(RespError.class).hasMessageContaining("WRONGTYPE");
        assertThatThrownBy(() -> a.request(2).once().send()).isInstanceOf(RespError.class);
        assertThatThrownBy(() -> a.release(1)).isInstanceOf(RespError.class).hasMessageContaining("WRONGTYPE");
        assertThatThrownBy(() -> a.renew(1)).isInstanceOf(RespError.class).hasMessageContaining("WRONGTYPE");
        assertThat(a.inspect()).isTrue();
        assertThat(ttls()).containsOnlyKeys(keys.lock());
        assertThat(redis("GET", keys.lock())).isEqualTo("mine");
        redis("DEL", keys.lock());
    }

    /**
     * Where Redis is full, a request is refused without a trace, while those who own the lock can still renew and
     * release.
     */
    @Test
    void fullRedisRefusesRequestsButLetsOwnersFinish() {
        inLine(a, b);
        redis("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThatThrownBy(() -> c.acquire(1)).hasMessageContaining("OOM");
            assertThatThrownBy(() -> c.request(2).once().send()).hasMessageContaining("OOM");
            assertThat(a.renew(1).owned()).isTrue();
            assertThat(a.release(1)).isEqualTo(TENURE);
            assertOwner(b, 1);
            assertThat(b.release(1)).isEqualTo(TENURE);
            assertThatThrownBy(() -> c.acquire(3)).hasMessageContaining("OOM");
            assertThat(ttls()).containsOnlyKeys(keys.token(), a.mark(), b.mark());
        } finally {
            redis("CONFIG", "SET", "maxmemory", "0");
        }
    }

    /** Where Redis has lost its data, the next poll restores the places of a session, and their order. */
    @Test
    void pollRestoresTheQueueAfterALossOfData() {
        b.own(1);
        a.requests(1L, 2L, 3L).send();
        redis("FLUSHALL");
        b.own(2);
        assertThat(a.requests(1L, 2L, 3L).send().status()).isEqualTo(Status.QUEUED);
        assertQueue(a.ticket(1), a.ticket(2), a.ticket(3));
        redis("FLUSHALL");
        assertThat(a.requests(1L, 2L, 3L).send().status()).isEqualTo(Status.GRANTED);
        assertOwner(a, 1);
        assertQueue(a.ticket(2), a.ticket(3));
    }
}
