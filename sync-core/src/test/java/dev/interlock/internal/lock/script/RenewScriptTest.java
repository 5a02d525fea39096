package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.internal.lock.script.Contender.Renewed;
import dev.interlock.internal.redis.Script;
import dev.interlock.testing.RedisServer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RTopic;
import org.redisson.client.codec.StringCodec;

/** What renew, inspect and replicas answer. */
class RenewScriptTest extends LockScriptTest {
    private static final Renewed REFUSED = new Renewed(false, 0, 0, 0);

    @Test
    void renewalByTheOwnerBringsTheWholeLease() {
        a.own(1);
        redis("PEXPIRE", keys.lock(), "9000");
        Renewed renewed = a.renew(1);
        assertThat(renewed.owned()).isTrue();
        assertThat(renewed.ttlMillis()).isBetween(9_001L, LEASE);
        assertThat(renewed.tickets()).isZero();
        assertThat(renewed.foreign()).isZero();
        assertThat(ttl(keys.lock())).isBetween(9_001L, LEASE);
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token());
    }

    @Test
    void renewalTellsHowManyWait() {
        a.own(1);
        contender().queue(1);
        contender().queue(1);
        assertThat(a.renew(1).tickets()).isEqualTo(2);
    }

    /** Redisson's waiters listen on its channel; that is how they are counted. */
    @Test
    void renewalTellsHowManyPlainClientsWait() {
        a.own(1);
        RTopic waiter = redisson.getTopic(keys.channel(), StringCodec.INSTANCE);
        waiter.addListener(String.class, (channel, message) -> {});
        assertThat(a.renew(1).foreign()).isEqualTo(1);
        waiter.removeAllListeners();
        await().atMost(PATIENCE).until(() -> a.renew(1).foreign() == 0);
    }

    /**
     * A renewal prolongs the tenure of its own sequence only: nothing else is prolonged, and nothing comes back to
     * life.
     */
    @Test
    void renewalOfAnythingElseDoesNothing() {
        a.own(1);
        a.release(1);
        assertThat(a.renew(1)).isEqualTo(REFUSED);
        assertThat(owners()).isEmpty();
        a.own(2);
        redis("PEXPIRE", keys.lock(), "9000");
        assertThat(a.renew(1)).isEqualTo(REFUSED);
        assertThat(a.renew(3)).isEqualTo(REFUSED);
        assertThat(b.renew(2)).isEqualTo(REFUSED);
        b.queue(3);
        assertThat(b.renew(3)).as("a ticket is no tenure").isEqualTo(REFUSED);
        assertThat(ttl(keys.lock())).isBetween(1L, 9_000L);
        expire();
        assertThat(a.renew(2)).isEqualTo(REFUSED);
        assertThat(owners()).isEmpty();
    }

    @Test
    void inspectionSeesAnyOwner() {
        assertThat(b.inspect()).isFalse();
        a.own(1);
        assertThat(a.inspect()).isTrue();
        assertThat(b.inspect()).isTrue();
        a.release(1);
        assertThat(b.inspect()).isFalse();
        RLock lock = redisson.getLock(keys.lock());
        lock.lock();
        try {
            assertThat(b.inspect()).isTrue();
        } finally {
            lock.unlock();
        }
        assertThat(b.inspect()).isFalse();
    }

    @Test
    void replicasAreCounted() {
        String script = Script.load("session/replicas").text();
        assertThat(server.command("EVAL", script, "1", keys.lock())).isEqualTo(List.of(0L));
        try (RedisServer replica = RedisServer.launch("--replicaof", server.host(), Integer.toString(server.port()))) {
            assertThat(replica.command("PING")).isEqualTo("PONG");
            await().atMost(PATIENCE).until(() -> List.of(1L).equals(server.command("EVAL", script, "1", keys.lock())));
        }
    }
}
