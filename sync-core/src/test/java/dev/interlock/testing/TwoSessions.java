package dev.interlock.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Two sessions over a Redis of their own, names that nobody has used, and the rivals of what a test is about. */
public final class TwoSessions implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final RedisServer redis = RedisServer.launch();
    private final List<RedissonClient> clients = new ArrayList<>();
    private final Map<Object, Object> rivals = new ConcurrentHashMap<>();
    private final Interlock mine;
    private final Interlock other;
    private Set<String> before = Set.of();

    private TwoSessions(boolean useClients) {
        mine = useClients ? Interlock.using(newClient()) : Interlock.connect(redis.url());
        other = useClients ? Interlock.using(newClient()) : Interlock.connect(redis.url());
    }

    /** Sessions that connect themselves. */
    public static TwoSessions connected() {
        return new TwoSessions(false);
    }

    /** Sessions that use a client of Redisson's each. */
    public static TwoSessions usingClients() {
        return new TwoSessions(true);
    }

    public RedisServer redis() {
        return redis;
    }

    public Interlock mine() {
        return mine;
    }

    public Interlock other() {
        return other;
    }

    /** The clients that the sessions use. */
    public RedissonClient myClient() {
        return clients.get(0);
    }

    public RedissonClient otherClient() {
        return clients.get(1);
    }

    /** Another client of Redisson's. */
    public RedissonClient newClient() {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.url());
        RedissonClient client = Redisson.create(config);
        clients.add(client);
        return client;
    }

    public static String nextName() {
        return "contract:" + NAMES.incrementAndGet();
    }

    /** Remembers what the other session has for {@code own}, which it returns. */
    public <S, T extends S> T rivals(T own, S theirs) {
        rivals.put(own, theirs);
        return own;
    }

    /** Whether the first of the sessions has this object. */
    public boolean isMine(Object object) {
        return rivals.containsKey(object);
    }

    @SuppressWarnings("unchecked") // It was put beside an object of the same type.
    public <S> Optional<S> rivalOf(S own) {
        return Optional.ofNullable((S) rivals.get(own));
    }

    /** Takes what is there for no fault of the test to come. */
    public void lookAround() {
        before = redis.keys();
    }

    /** Asserts that what is new among the keys, but for what somebody holds, are marks that expire. */
    public void assertOnlyMarksAreNew(String marks, Predicate<String> isHeld) {
        Awaitility.await("what is left")
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .untilAsserted(() -> assertThat(redis.ttlMillis().entrySet())
                        .filteredOn(entry -> !before.contains(entry.getKey()) && !isHeld.test(entry.getKey()))
                        .allSatisfy(entry -> {
                            assertThat(entry.getKey()).containsPattern(marks);
                            assertThat(entry.getValue()).as(entry.getKey()).isPositive();
                        }));
    }

    @Override
    public void close() {
        mine.close();
        other.close();
        clients.forEach(RedissonClient::shutdown);
        redis.close();
    }
}
