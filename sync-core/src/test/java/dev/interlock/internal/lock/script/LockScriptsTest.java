package dev.interlock.internal.lock.script;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.lock.script.LockScripts.Renewal;
import dev.interlock.internal.lock.script.LockScripts.Status;
import dev.interlock.internal.redis.RedisMonitor;
import dev.interlock.internal.redis.RedisMonitor.Command;
import dev.interlock.internal.session.RedisSession;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;

/** The Java side of the scripts: it passes what their headers ask for, and reads what they answer. */
class LockScriptsTest extends LockScriptTest {
    private static final long LEASE = 30_000;

    private RedisSession session = openSession(System::nanoTime);
    private LockScripts scripts = new LockScripts(session, "");

    @BeforeEach
    void speakOfThisLock() {
        scripts = new LockScripts(session, keys.lock());
    }

    @AfterEach
    void leave() {
        for (long sequence = 1; sequence <= 9; sequence++) {
            answer(scripts.release(ticket(sequence), "", 1, Operations.NONE));
        }
        session.close();
    }

    private static <T> T answer(CompletableFuture<T> reply) {
        return reply.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    private static Ticket ticket(long sequence, boolean queues, long from) {
        return ticket(sequence, LEASE, queues, from);
    }

    private static Ticket ticket(long sequence, long lease, boolean queues, long from) {
        Ticket ticket = new Ticket(lease, lease == LEASE, Ticket.HEARTBEAT_MILLIS, queues, false, 0);
        ticket.from = from;
        ticket.sequence = sequence;
        return ticket;
    }

    private static Ticket ticket(long sequence) {
        return ticket(sequence, true, 0);
    }

    private AcquireReply acquire(Ticket ticket) {
        return answer(scripts.acquire(List.of(ticket), LockScripts.ENDED, 1, List.of()));
    }

    private Renewal renew(long sequence) {
        return LockScripts.renewal(answer(session.runner().run(scripts.renew(sequence, 30_000))));
    }

    /** What stands in the header as KEYS[i] or ARGV[i] is what arrives there. */
    @Test
    void keysAndArgumentsArriveInTheOrderOfTheHeader() throws IOException {
        answer(scripts.inspect()); // connects
        try (RedisMonitor monitor = new RedisMonitor(server)) {
            Ticket fixed = ticket(7, 20_000, true, 6);
            answer(scripts.acquire(List.of(fixed, ticket(8)), 6, 5, List.of(ticket(3), ticket(4))));
            Command acquire = only(monitor, "lock/acquire");
            assertThat(acquire.keys()).isEqualTo(keys.all(session.id()));
            assertThat(acquire.arguments())
                    .containsExactly(session.id(), "7:20000 8:3000", "20000", "1", "6", "5", "3:3000 4:3000", "3000");

            answer(scripts.acquire(List.of(ticket(9, false, 0)), LockScripts.LEFT_ALONE, 5, List.of()));
            assertThat(only(monitor, "lock/acquire").arguments())
                    .containsExactly(session.id(), "9:3000", "30000", "0", "-1", "5", "", "3000");

            answer(scripts.release(fixed, "8:3000", 6, Operations.NONE));
            Command release = only(monitor, "lock/release");
            assertThat(release.keys()).isEqualTo(keys.all(session.id()));
            assertThat(release.arguments())
                    .containsExactly(session.id(), "7", "20000", "6", keys.channel(), "publish", "8:3000", "1", "");

            renew(8);
            Command renew = only(monitor, "lock/renew");
            assertThat(renew.keys()).containsExactly(keys.lock(), keys.queue(), keys.waiters(), keys.readers());
            assertThat(renew.arguments()).containsExactly(session.id(), "8", "30000", keys.channel(), "publish");

            answer(scripts.inspect());
            Command inspect = only(monitor, "lock/inspect");
            assertThat(inspect.keys()).containsExactly(keys.lock());
            assertThat(inspect.arguments()).isEmpty();
        }
    }

    // A cold script comes twice, the second time with its text; it is the same call.
    private Command only(RedisMonitor monitor, String script) throws IOException {
        List<Command> commands = monitor.commands().stream()
                .filter(command -> command.isScriptOn(keys.lock()))
                .toList();
        assertThat(commands).as(script).isNotEmpty();
        Command last = commands.get(commands.size() - 1);
        assertThat(commands).allSatisfy(command -> {
            assertThat(command.keys()).isEqualTo(last.keys());
            assertThat(command.arguments()).isEqualTo(last.arguments());
        });
        return last;
    }

    /** In a cluster, a script may only touch keys of one slot: what is hashed of them is the same for all. */
    @ParameterizedTest
    @ValueSource(strings = {"plain", "name space:plain", "a:{b}:c", "{b}", "b{a}{c}", "{a}}", "key"})
    void allKeysOfALockShareASlot(String suffix) throws IOException {
        String name = UUID.randomUUID() + suffix;
        use(name);
        assertThat(keys.all(session.id()))
                .allSatisfy(key -> assertThat(hashed(key)).isEqualTo(hashed(name)));
        LockScripts named = new LockScripts(session, name);
        assertThat(named.channel()).isEqualTo(keys.channel());
        assertThat(hashed(named.channel())).isEqualTo(hashed(name));
        try (RedisMonitor monitor = new RedisMonitor(server)) {
            answer(named.release(ticket(1), "", 1, Operations.NONE));
            assertThat(only(monitor, "lock/release").keys()).isEqualTo(keys.all(session.id()));
        }
    }

    private static String hashed(String key) {
        int open = key.indexOf('{');
        int close = key.indexOf('}', open + 1);
        return open >= 0 && close > open + 1 ? key.substring(open + 1, close) : key;
    }

    @Test
    void standingsAreRead() {
        RedisSession otherSession = openSession(System::nanoTime);
        LockScripts other = new LockScripts(otherSession, keys.lock());

        AcquireReply granted = acquire(ticket(1, true, 0));
        assertThat(granted.status()).isEqualTo(Status.GRANTED);
        assertThat(granted.ttlMillis()).isEqualTo(LEASE);
        assertThat(granted.token()).isEqualTo(number("GET", keys.token()));
        assertThat(granted.waiters()).isFalse();
        assertThat(granted.foreign()).isFalse();

        AcquireReply busy = answer(other.acquire(List.of(ticket(1, false, 0)), LockScripts.ENDED, 1, List.of()));
        assertThat(busy.status()).isEqualTo(Status.BUSY);
        assertThat(busy.ttlMillis()).isBetween(1L, LEASE);
        assertThat(busy.foreign()).isFalse();
        assertThat(acquire(ticket(1, true, 0)).waiters()).isFalse();

        AcquireReply queued = answer(other.acquire(List.of(ticket(2, true, 0)), LockScripts.ENDED, 1, List.of()));
        assertThat(queued.status()).isEqualTo(Status.QUEUED);
        assertThat(queued.token()).isZero();
        assertThat(queued.foreign()).isFalse();
        assertThat(queued.redisMicros()).isPositive();
        assertThat(acquire(ticket(1, true, 0)).waiters()).isTrue();
        Renewal renewal = renew(1);
        assertThat(renewal.ttlMillis()).isBetween(LEASE - 1_000, LEASE);
        assertThat(renewal).isEqualTo(new Renewal(true, renewal.ttlMillis(), true, true, false));

        assertThat(answer(other.release(ticket(2), "", 1, Operations.NONE))).isEqualTo(Released.TICKET);
        assertThat(answer(scripts.inspect())).isTrue();
        assertThat(answer(scripts.release(ticket(1), "", 1, Operations.NONE))).isEqualTo(Released.TENURE);
        assertThat(answer(scripts.inspect())).isFalse();
        assertThat(answer(scripts.release(ticket(5), "", 1, Operations.NONE))).isEqualTo(Released.NOTHING);
        assertThat(acquire(ticket(1, true, 0)).status()).isEqualTo(Status.OVER);
        assertThat(renew(1)).isEqualTo(new Renewal(false, 0, true, false, false));
        otherSession.close();
    }

    private Renewal prolong(long sequence, long lease) {
        return LockScripts.renewal(answer(scripts.prolong(sequence, lease)));
    }

    /** The other keys of the name may be on another node. */
    @Test
    void aTenureIsProlongedByItsKeyAlone() {
        acquire(ticket(1));
        redis("PEXPIRE", keys.lock(), "9000");
        Renewal asked = prolong(1, 0);
        assertThat(asked.ttlMillis()).isBetween(1L, 9_000L);
        assertThat(ttl(keys.lock())).isLessThanOrEqualTo(9_000);
        Renewal renewal = prolong(1, LEASE);
        assertThat(renewal).isEqualTo(new Renewal(true, renewal.ttlMillis(), false, false, false));
        assertThat(renewal.ttlMillis()).isBetween(9_001L, LEASE);
        assertThat(ttl(keys.lock())).isGreaterThan(9_000);
        assertThat(prolong(2, LEASE).owned()).isFalse();
        answer(scripts.release(ticket(1), "", 1, Operations.NONE));
        assertThat(prolong(1, LEASE).owned()).isFalse();
    }

    @Test
    void aReaderIsProlongedByEachOfItsKeys() {
        Ticket reader = new Ticket(LEASE, true, Ticket.HEARTBEAT_MILLIS, true, true, 0);
        reader.sequence = 1;
        acquire(reader);
        redis("PEXPIRE", keys.lock(), "9000");
        redis("PEXPIRE", keys.readers(), "9000");
        Renewal renewal = prolong(1, LEASE);
        assertThat(renewal).isEqualTo(new Renewal(true, LEASE, false, false, false));
        assertThat(ttl(keys.lock())).isGreaterThan(9_000);
        assertThat(ttl(keys.readers())).isGreaterThan(9_000);
        assertThat(prolong(2, LEASE).owned()).isFalse();
        redis("ZADD", keys.readers(), "1", session.id());
        assertThat(prolong(1, LEASE).owned())
                .as("what is over doesn't begin anew")
                .isFalse();
        answer(scripts.release(reader, "", 1, Operations.NONE));
    }

    @Test
    void standingBehindAPlainClientIsRead() {
        RLock lock = redisson.getLock(keys.lock());
        lock.lock();
        try {
            AcquireReply busy = acquire(ticket(1, false, 0));
            assertThat(busy.status()).isEqualTo(Status.BUSY);
            assertThat(busy.foreign()).isTrue();
            AcquireReply queued = acquire(ticket(2, true, 0));
            assertThat(queued.status()).isEqualTo(Status.QUEUED);
            assertThat(queued.foreign()).isTrue();
            answer(scripts.release(ticket(2), "", 1, Operations.NONE));
        } finally {
            lock.unlock();
        }
    }
}
