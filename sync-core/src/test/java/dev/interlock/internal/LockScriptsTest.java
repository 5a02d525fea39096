package dev.interlock.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.SyncListener;
import dev.interlock.internal.LockScripts.Released;
import dev.interlock.internal.LockScripts.Renewal;
import dev.interlock.internal.LockScripts.Standing;
import dev.interlock.internal.LockScripts.Status;
import dev.interlock.internal.RedisMonitor.Command;
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

    private final String session = "interlock-" + UUID.randomUUID();
    private ScriptRunner runner = runner();
    private LockScripts scripts = scripts(session);

    private static ScriptRunner runner() {
        Settings settings = new Settings(
                LEASE,
                TimeUnit.MILLISECONDS.toNanos(10),
                TimeUnit.SECONDS.toNanos(30),
                5_000,
                "",
                SyncListener.NONE,
                System::nanoTime);
        return new ScriptRunner(redisson, settings, new Outage(settings.ticker(), settings.listener(), Runnable::run));
    }

    private LockScripts scripts(String by) {
        return new LockScripts(runner, by, LEASE, "publish", keys.lock());
    }

    @BeforeEach
    void speakOfThisLock() {
        runner = runner();
        scripts = scripts(session);
    }

    @AfterEach
    void leave() {
        for (long sequence = 1; sequence <= 9; sequence++) {
            answer(scripts.release(sequence, LEASE, 1));
        }
    }

    private static <T> T answer(CompletableFuture<T> reply) {
        return reply.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    private static Ticket ticket(long sequence, boolean queues, long from) {
        return new Ticket(sequence, LEASE, true, queues, from, 0);
    }

    private Renewal renew(long sequence) {
        return LockScripts.renewal(answer(runner.run(scripts.renew(sequence))));
    }

    /** What stands in the header as KEYS[i] or ARGV[i] is what arrives there. */
    @Test
    void keysAndArgumentsArriveInTheOrderOfTheHeader() throws IOException {
        answer(scripts.inspect()); // connects
        try (RedisMonitor monitor = new RedisMonitor(server)) {
            answer(scripts.acquire(new Ticket(7, 20_000, false, true, 6, 0), 5));
            Command acquire = only(monitor, "lock/acquire");
            assertThat(acquire.keys()).isEqualTo(keys.all(session));
            assertThat(acquire.arguments()).containsExactly(session, "7", "20000", "1", "6", "5");

            answer(scripts.acquire(ticket(8, false, 0), 5));
            assertThat(only(monitor, "lock/acquire").arguments()).containsExactly(session, "8", "30000", "0", "0", "5");

            answer(scripts.release(8, 20_000, 6));
            Command release = only(monitor, "lock/release");
            assertThat(release.keys()).isEqualTo(keys.all(session));
            assertThat(release.arguments()).containsExactly(session, "8", "20000", "6", keys.channel(), "publish");

            renew(8);
            Command renew = only(monitor, "lock/renew");
            assertThat(renew.keys()).containsExactly(keys.lock(), keys.queue(), keys.mark(session));
            assertThat(renew.arguments()).containsExactly(session + ":8", "30000", keys.channel(), "publish");

            answer(scripts.inspect());
            Command inspect = only(monitor, "lock/inspect");
            assertThat(inspect.keys()).containsExactly(keys.lock());
            assertThat(inspect.arguments()).isEmpty();
        }
        assertThat(Script.load("lock/acquire").keys())
                .containsExactly("lock", "queue", "waiters", "token", "turns", "mark");
        assertThat(Script.load("lock/acquire").arguments())
                .containsExactly("session", "sequence", "lease", "enqueue", "from", "floor");
        assertThat(Script.load("lock/release").keys())
                .containsExactly("lock", "queue", "waiters", "token", "turns", "mark");
        assertThat(Script.load("lock/release").arguments())
                .containsExactly("session", "sequence", "lease", "floor", "channel", "publish");
        assertThat(Script.load("lock/renew").keys()).containsExactly("lock", "queue", "mark");
        assertThat(Script.load("lock/renew").arguments()).containsExactly("owner", "lease", "channel", "publish");
        assertThat(Script.load("lock/inspect").keys()).containsExactly("lock");
        assertThat(Script.load("lock/inspect").arguments()).isEmpty();
    }

    // A cold script comes twice, the second time with its text; it is the same call.
    private static Command only(RedisMonitor monitor, String script) throws IOException {
        List<Command> commands =
                monitor.commands().stream().filter(Command::isScript).toList();
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
    @ValueSource(strings = {"plain", "name space:plain", "a:{b}:c", "{b}", "b{a}{c}", "{a}}", "schlüssel"})
    void allKeysOfALockShareASlot(String name) {
        use(name);
        assertThat(keys.all(session)).allSatisfy(key -> assertThat(hashed(key)).isEqualTo(hashed(name)));
        LockScripts named = scripts(session);
        assertThat(named.channel()).isEqualTo(keys.channel());
        assertThat(hashed(named.channel())).isEqualTo(hashed(name));
        assertThat(named.renew(1).keys).isEqualTo(List.of(keys.lock(), keys.queue(), keys.mark(session)));
    }

    private static String hashed(String key) {
        int open = key.indexOf('{');
        int close = key.indexOf('}', open + 1);
        return open >= 0 && close > open + 1 ? key.substring(open + 1, close) : key;
    }

    @Test
    void standingsAreRead() {
        LockScripts other = scripts("interlock-" + UUID.randomUUID());

        Standing granted = answer(scripts.acquire(ticket(1, true, 0), 1));
        assertThat(granted.status()).isEqualTo(Status.GRANTED);
        assertThat(granted.ttlMillis()).isEqualTo(LEASE);
        assertThat(granted.token()).isEqualTo(number("GET", keys.token()));
        assertThat(granted.waiters()).isFalse();
        assertThat(granted.foreign()).isFalse();

        Standing busy = answer(other.acquire(ticket(1, false, 0), 1));
        assertThat(busy.status()).isEqualTo(Status.BUSY);
        assertThat(busy.ttlMillis()).isBetween(1L, LEASE);
        assertThat(busy.foreign()).isFalse();
        assertThat(answer(scripts.acquire(ticket(1, true, 0), 1)).waiters()).isFalse();

        Standing queued = answer(other.acquire(ticket(2, true, 0), 1));
        assertThat(queued.status()).isEqualTo(Status.QUEUED);
        assertThat(queued.token()).isZero();
        assertThat(queued.foreign()).isFalse();
        assertThat(queued.redisMicros()).isPositive();
        assertThat(answer(scripts.acquire(ticket(1, true, 0), 1)).waiters()).isTrue();
        assertThat(renew(1)).isEqualTo(new Renewal(true, LEASE, true, false));

        assertThat(answer(other.release(2, LEASE, 1))).isEqualTo(Released.TICKET);
        assertThat(answer(scripts.inspect())).isTrue();
        assertThat(answer(scripts.release(1, LEASE, 1))).isEqualTo(Released.TENURE);
        assertThat(answer(scripts.inspect())).isFalse();
        assertThat(answer(scripts.release(5, LEASE, 1))).isEqualTo(Released.NOTHING);
        assertThat(answer(scripts.acquire(ticket(1, true, 0), 1)).status()).isEqualTo(Status.OVER);
        assertThat(renew(1)).isEqualTo(new Renewal(false, 0, false, false));
    }

    @Test
    void standingBehindAPlainClientIsRead() {
        RLock lock = redisson.getLock(keys.lock());
        lock.lock();
        Standing busy = answer(scripts.acquire(ticket(1, false, 0), 1));
        assertThat(busy.status()).isEqualTo(Status.BUSY);
        assertThat(busy.foreign()).isTrue();
        Standing queued = answer(scripts.acquire(ticket(2, true, 0), 1));
        assertThat(queued.status()).isEqualTo(Status.QUEUED);
        assertThat(queued.foreign()).isTrue();
        answer(scripts.release(2, LEASE, 1));
        lock.unlock();
    }

    /** Renewals travel together, but what one of them meets touches no other. */
    @Test
    void brokenKeySpoilsNoOtherRenewalOfTheBatch() {
        LockScripts broken = new LockScripts(runner, session, LEASE, "publish", keys.lock() + "-broken");
        answer(scripts.acquire(ticket(1, true, 0), 1));
        answer(runner.run(scripts.renew(1)));
        redis("SET", keys.lock() + "-broken", "no hash");
        redis("PEXPIRE", keys.lock(), "9000");
        List<CompletableFuture<List<Object>>> replies =
                runner.runAll(List.of(broken.renew(1), scripts.renew(1), broken.renew(2), scripts.renew(2)));
        assertThat(LockScripts.renewal(answer(replies.get(1))).owned()).isTrue();
        assertThat(LockScripts.renewal(answer(replies.get(3))).owned()).isFalse();
        assertThat(ttl(keys.lock())).isGreaterThan(9_000);
        for (int failed : List.of(0, 2)) {
            assertThatThrownBy(() -> answer(replies.get(failed))).hasMessageContaining("WRONGTYPE");
            assertThat(replies.get(failed)).isCompletedExceptionally();
        }
        redis("DEL", keys.lock() + "-broken");
    }

    /** A server that has forgotten the scripts costs no call, and a batch no more than one try. */
    @Test
    void forgottenScriptsAreLoadedAgain() {
        answer(scripts.acquire(ticket(1, true, 0), 1));
        assertThat(renew(1).owned()).isTrue();
        redis("SCRIPT", "FLUSH");
        assertThat(answer(scripts.acquire(ticket(1, true, 0), 1)).status()).isEqualTo(Status.GRANTED);
        assertThat(renew(1).owned()).isTrue();
        redis("SCRIPT", "FLUSH");
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> runner.runAll(List.of(scripts.renew(1), scripts.renew(1))).stream()
                        .map(LockScriptsTest::answer)
                        .allMatch(reply -> LockScripts.renewal(reply).owned()));
    }

    /** More renewals than fit into one batch are all answered, each with its own answer. */
    @Test
    void largeBatchesAreAnsweredInOrder() {
        answer(scripts.acquire(ticket(1, true, 0), 1));
        List<Script.Call> calls = java.util.stream.LongStream.rangeClosed(1, 600)
                .mapToObj(i -> scripts.renew(i % 3 == 0 ? 1 : 2))
                .toList();
        List<Boolean> owned = runner.runAll(calls).stream()
                .map(LockScriptsTest::answer)
                .map(reply -> LockScripts.renewal(reply).owned())
                .toList();
        assertThat(owned).hasSize(600);
        for (int i = 1; i <= 600; i++) {
            assertThat(owned.get(i - 1)).isEqualTo(i % 3 == 0);
        }
    }
}
