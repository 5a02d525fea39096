package dev.interlock.internal.lock.script;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.SyncListener;
import dev.interlock.Transport;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.lock.script.Contender.Stand;
import dev.interlock.internal.lock.script.Contender.State;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * What the tests of the lock's scripts share: a server, a lock of its own for each test, and a look at what is left.
 */
public abstract class LockScriptTest {
    protected static final Duration PATIENCE = Duration.ofSeconds(20);

    static final Stand WAITS = new Stand(State.WAITING, 0);
    static final Stand UNKNOWN = new Stand(State.SIGNALLED, 0);

    protected static RedisServer server;
    protected static RedissonClient redisson;
    static Eavesdropper eavesdropper;

    protected LockKeys keys = LockKeys.of("");

    /** The sessions of which the tests speak. */
    protected Contender a;

    protected Contender b;
    protected Contender c;
    protected Contender d;
    protected Contender owner;
    protected Contender signaller;
    protected Contender dead;

    private final List<Contender> contenders = new ArrayList<>();
    long last = 100_000;

    @BeforeAll
    static void start() {
        server = RedisServer.launch();
        Config config = new Config();
        config.useSingleServer()
                .setAddress(server.url())
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(8);
        redisson = Redisson.create(config);
        eavesdropper = new Eavesdropper(server, redisson);
    }

    @AfterAll
    static void stop() {
        eavesdropper.close();
        redisson.shutdown();
        server.close();
    }

    /** A session whose clock the test provides. */
    protected static RedisSession openSession(LongSupplier ticker) {
        return RedisSession.open(redisson, false, Transport.REDISSON, false, settings(SyncListener.NONE, ticker));
    }

    protected static Settings settings(SyncListener listener, LongSupplier ticker) {
        return new Settings(
                Contender.LEASE,
                TimeUnit.MILLISECONDS.toNanos(10),
                true,
                false,
                false,
                TimeUnit.SECONDS.toNanos(30),
                5_000,
                1,
                "",
                "test",
                new Listeners(listener),
                ticker);
    }

    @BeforeEach
    void nameTheLock() {
        use("lock-" + UUID.randomUUID());
    }

    /** Chooses another name than a random one. */
    protected final void use(String name) {
        keys = LockKeys.of(name);
        a = contender();
        b = contender();
        c = contender();
        d = contender();
        owner = contender();
        signaller = contender();
        dead = contender();
    }

    protected final Contender contender() {
        Contender contender = new Contender(server, keys);
        contenders.add(contender);
        return contender;
    }

    /** The first of these sessions owns the lock, and the others queue behind it in this order. */
    protected static void inLine(Contender first, Contender... others) {
        first.own(1);
        for (Contender other : others) {
            other.queue(1);
        }
    }

    /** The sequence by which a session owns the lock, and nobody else does. */
    protected final void assertOwner(Contender session, long sequence) {
        assertThat(owners()).containsExactly(session.owner(sequence));
    }

    /** What stands in the queue, in its order. */
    protected final void assertQueue(String... tickets) {
        assertThat(tickets()).containsExactly(tickets);
    }

    /** Redis knows of nobody who queues. */
    protected final void assertNoQueue() {
        assertThat(ttls()).doesNotContainKeys(keys.queue(), keys.waiters());
    }

    /** Redis knows of nobody who waits for a condition. */
    protected final void assertNoWaiters() {
        assertThat(ttls()).doesNotContainKey(keys.conditions());
    }

    protected static void assertNoLetters(Contender... receivers) throws InterruptedException {
        for (Contender receiver : receivers) {
            assertThat(letters(receiver)).isEmpty();
        }
    }

    /** The only message to a session tells that others wait for what it owns. */
    protected final void assertDemand(Contender receiver, long sequence) throws InterruptedException {
        assertThat(letters(receiver)).containsExactly("d " + sequence + " " + keys.lock());
    }

    /** The only message to a session asks whether it is inside what it owns, on behalf of a request. */
    protected final void assertAsked(Contender receiver, long sequence, Contender asker, long request)
            throws InterruptedException {
        assertThat(letters(receiver))
                .containsExactly("i " + sequence + " " + request + " " + asker.id + " " + keys.lock());
    }

    /** The only message to a session tells that this ticket was granted. */
    protected static void assertGranted(Contender receiver, long sequence) throws InterruptedException {
        assertThat(letters(receiver)).singleElement().asString().startsWith("g " + sequence + " ");
    }

    /** The only message to a session tells that this waiter was signalled, or has left, and which ticket it has. */
    protected final void assertSignalled(Contender receiver, long waiter, long ticket) throws InterruptedException {
        assertThat(letters(receiver)).containsExactly("s 2 " + waiter + " " + ticket + " " + keys.lock());
    }

    /** After everyone has left, nothing stays but what expires by itself. */
    @AfterEach
    void nothingIsLeftButMemories() {
        contenders.forEach(Contender::abandonAll);
        contenders.forEach(Contender::releaseAll);
        for (boolean isAny = true; isAny; ) {
            isAny = false;
            for (Contender contender : contenders) {
                isAny |= contender.releaseTickets();
            }
        }
        assertThat(ttls()).allSatisfy((key, ttl) -> {
            assertThat(keys.isMemory(key)).as(key).isTrue();
            assertThat(ttl).as(key).isPositive();
        });
    }

    /** The keys of this lock with their TTLs in ms, -1 for none. */
    protected final Map<String, Long> ttls() {
        Map<String, Long> ttls = new LinkedHashMap<>();
        for (String key : server.keys()) {
            if (key.contains(keys.lock())) {
                ttls.put(key, ttl(key));
            }
        }
        return ttls;
    }

    protected static Object redis(String... command) {
        Object reply = server.command(command);
        assertThat(reply).isNotNull();
        return reply;
    }

    protected static long number(String... command) {
        Object reply = redis(command);
        return reply instanceof Long number ? number : Long.parseLong(reply.toString());
    }

    protected static long ttl(String key) {
        return number("PTTL", key);
    }

    protected static List<String> list(String... command) {
        if (!(redis(command) instanceof List<?> reply)) {
            throw new IllegalStateException("not a list");
        }
        List<String> strings = new ArrayList<>();
        reply.forEach(element -> strings.add(String.valueOf(element)));
        return strings;
    }

    /** The fields of the lock's hash. */
    protected final List<String> owners() {
        return list("HKEYS", keys.lock());
    }

    protected final List<String> tickets() {
        return list("ZRANGE", keys.queue(), "0", "-1");
    }

    /** The lease of the owner is over. */
    protected final void expire() {
        assertThat(number("DEL", keys.lock())).isEqualTo(1);
    }

    /** The members of the set of those who wait for conditions. */
    protected final List<String> waiting() {
        return list("ZRANGE", keys.conditions(), "0", "-1");
    }

    /** Nothing was heard for too long of a session that waits for a condition. */
    final void fallSilent(Contender waiter) {
        String known = redis("HGET", keys.signals(), waiter.id).toString();
        redis("HSET", keys.signals(), waiter.id, known.replaceFirst(":\\d+:", ":1:"));
    }

    /** Nothing was heard of a waiting session for too long. */
    protected final void die(Contender waiter) {
        assertThat(number("ZADD", keys.waiters(), "XX", "CH", "1", waiter.id)).isEqualTo(1);
    }

    protected static List<String> letters(Contender receiver) throws InterruptedException {
        return eavesdropper.hear(receiver.mailbox());
    }

    /** What plain RLock clients hear. */
    protected final List<String> announcements() throws InterruptedException {
        return eavesdropper.hear(keys.channel());
    }

    long next() {
        last += 1_000;
        return last;
    }

    static Stand signalled(long sequence) {
        return new Stand(State.SIGNALLED, sequence);
    }

    static Stand left(long sequence) {
        return new Stand(State.LEFT, sequence);
    }
}
