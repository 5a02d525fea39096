package dev.interlock.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The part of Redis that belongs to one test: names that no other test uses, and a look at what is stored under them.
 *
 * <p>Registered as an extension, it fails every test that leaves anything behind but marks with a TTL:
 *
 * <pre>{@code
 * @RegisterExtension
 * final Keyspace keyspace = Keyspace.in(RedisServer.provided());
 * }</pre>
 */
public final class Keyspace implements AfterEachCallback {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * What may outlive its users: high-water marks of sequences, the last fencing token, the turns of plain RLocks, the
     * sessions that have waited for conditions, the pool of a semaphore with its accounts.
     */
    private static final Pattern MARK = Pattern.compile(
            "interlock:(\\{.+}:(.+:)?KIND|KIND:.+)"
                    .replace("KIND", "(mark:[^:]+|token|turns|signals|semaphore(-retired|-sessions)?)"),
            Pattern.DOTALL);

    private final RedisServer server;
    private final String unique = UUID.randomUUID().toString();

    private Keyspace(RedisServer server) {
        this.server = server;
    }

    public static Keyspace in(RedisServer server) {
        return new Keyspace(server);
    }

    public RedisServer server() {
        return server;
    }

    /** A name for a lock that only this test uses. */
    public String name(String what) {
        return what + "-" + unique;
    }

    /** How many sessions wait for a name in Redis. */
    public long waiting(String name) {
        // A name that has a hash tag of its own, or a piece of one, gets none from us.
        return number("ZCARD", "interlock:{" + name + "}:queue") + number("ZCARD", "interlock:queue:" + name);
    }

    /** Whether the heartbeat of a session that waits for a name is overdue, by the clock of Redis. */
    public boolean isOverdue(String name, String sessionId) {
        String script = "local time = redis.call('time') "
                + "local beat = redis.call('zscore', KEYS[1], ARGV[1]) "
                + "return (not beat or tonumber(beat) < time[1] * 1000 + math.floor(time[2] / 1000)) and 1 or 0";
        String waiters = "interlock:{" + name + "}:waiters";
        return number("EVAL", script, "1", waiters, sessionId) == 1;
    }

    /** For how long a name is still owned; not positive if it isn't. */
    public long ownedMillis(String name) {
        return number("PTTL", name);
    }

    /** Deletes the ownership of a name, as an operator might. */
    public void forget(String name) {
        number("DEL", name);
    }

    private long number(String... command) {
        return server.command(command) instanceof Long number ? number : -1;
    }

    /** Asserts that nothing is left but marks that expire. What is on its way in the background may take a moment. */
    public void assertOnlyMarksAreLeft() {
        await("a clean Redis")
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(leftovers())
                        .as("keys that are no marks with a TTL")
                        .isEmpty());
    }

    private Set<String> leftovers() {
        var leftovers = new TreeSet<String>();
        for (String key : server.keys("*" + unique + "*")) {
            long ttlMillis = number("PTTL", key);
            boolean gone = ttlMillis == -2;
            if (!gone && (ttlMillis <= 0 || !MARK.matcher(key).matches())) {
                leftovers.add(key + " (PTTL " + ttlMillis + ")");
            }
        }
        return leftovers;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (context.getExecutionException().isEmpty()) {
            assertOnlyMarksAreLeft();
        }
    }
}
