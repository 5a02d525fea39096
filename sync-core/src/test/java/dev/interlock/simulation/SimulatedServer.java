package dev.interlock.simulation;

import dev.interlock.internal.redis.Script.Call;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisBusyException;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisLoadingException;
import org.redisson.client.RedisOutOfMemoryException;

/** A simulated Redis: its data, and whether it can be reached and executes what it is sent. */
final class SimulatedServer {
    /** Begins in 2026, as wall clocks do. */
    private static final long START_MICROS = 1_780_000_000_000_000L;

    private static final long REPLICATION_NANOS = 50_000_000;

    private static final List<String> REFUSALS = List.of(
            "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
            "LOADING Redis is loading the dataset in memory",
            "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
            "OOM command not allowed when used memory > 'maxmemory'.",
            "READONLY You can't write against a read only replica.");

    private final Scheduler scheduler;
    private final Trace trace;
    private final SplittableRandom random;
    private final MemoryRedis data;
    private final Map<String, Link> subscribers = new HashMap<>();

    /** What a replica has that may take over. */
    private Database.@Nullable Snapshot replica;

    private boolean isReplicationOver;

    private @Nullable TokenOrder tokens;

    private final Set<String> forbidden = new LinkedHashSet<>();
    private final Set<String> spoilt = new LinkedHashSet<>();
    private int toForbid;
    private int toSpoil;

    /** What its wall clock is set to, beside the time of the simulation. */
    private long stepMicros;

    private long downUntilNanos;
    private long refusesUntilNanos;
    private String refusal = "";

    /**
     * Creates a Redis without data.
     *
     * @param apartNanos how far its wall clock may be from those of others
     */
    SimulatedServer(
            Scheduler scheduler,
            Trace trace,
            SplittableRandom random,
            long apartNanos,
            BinaryOperator<String> scriptChange) {
        this.scheduler = scheduler;
        this.trace = trace;
        this.random = random;
        this.stepMicros = random.nextLong(apartNanos / 1_000 + 1);
        this.data = new MemoryRedis(this::clockMicros, new Random(random.nextLong()), publisher(), scriptChange);
    }

    private Publisher publisher() {
        return new Publisher() {
            @Override
            public int publish(String channel, String message) {
                Link subscriber = subscribers.get(channel);
                trace.add("    published %s: %s%s", channel, message, subscriber == null ? ", nobody listens" : "");
                if (subscriber == null) {
                    return 0;
                }
                subscriber.mail(message);
                return 1;
            }

            @Override
            public int subscribers(String channel) {
                return subscribers.containsKey(channel) ? 1 : 0;
            }

            @Override
            public List<String> channels(String prefix) {
                return subscribers.keySet().stream()
                        .filter(channel -> channel.startsWith(prefix))
                        .sorted()
                        .toList();
            }
        };
    }

    /** Copies all data to a replica, again and again. */
    void replicate() {
        if (!isReplicationOver) {
            replica = data.snapshot();
            scheduler.after(REPLICATION_NANOS, this::replicate);
        }
    }

    void endReplication() {
        isReplicationOver = true;
    }

    void watch(TokenOrder order) {
        tokens = order;
    }

    private long clockMicros() {
        return START_MICROS + stepMicros + scheduler.nanos() / 1_000;
    }

    MemoryRedis data() {
        return data;
    }

    boolean isDown() {
        return scheduler.nanos() < downUntilNanos;
    }

    /** Executes a script, or throws what Redisson would complete its future with. */
    List<Object> execute(Call call) {
        if (isDown()) {
            throw new RedisConnectionException("Unable to connect to Redis server");
        }
        if (scheduler.nanos() < refusesUntilNanos) {
            throw refused(refusal);
        }
        chooseKeys(call);
        if (call.keys().stream().anyMatch(forbidden::contains)) {
            throw new RedisException("NOPERM this user has no permissions to access one of the keys used as arguments");
        }
        String token = tokens == null ? null : tokens.key(call.keys());
        String before = token == null ? null : data.text(token);
        List<Object> reply = data.run(call);
        if (trace.isKept()) {
            trace.add("  %s %s %s -> %s", call.script(), call.keys().get(0), call.arguments(), reply);
        }
        if (tokens != null && token != null) {
            tokens.ran(token, before, data.text(token));
        }
        return reply;
    }

    private static RedisException refused(String error) {
        return switch (error.substring(0, error.indexOf(' '))) {
            case "BUSY" -> new RedisBusyException(error);
            case "LOADING" -> new RedisLoadingException(error);
            case "OOM" -> new RedisOutOfMemoryException(error);
            default -> new RedisException(error);
        };
    }

    void subscribe(String channel, Link link) {
        subscribers.put(channel, link);
    }

    void unsubscribe(String channel, Link link) {
        subscribers.remove(channel, link);
    }

    /** Throws if one of these keys still has that session. */
    void checkForgotten(List<String> keys, String session) {
        String dump = data.dump();
        if (dump.lines()
                .anyMatch(
                        line -> keys.stream().anyMatch(key -> line.startsWith(key + " ")) && line.contains(session))) {
            throw new Violation("Redis still has for " + session + " what it has given up:\n" + dump);
        }
    }

    // ---- faults

    void goDown(long nanos) {
        downUntilNanos = Math.max(downUntilNanos, scheduler.nanos() + nanos);
        List<Link> cut = List.copyOf(subscribers.values());
        subscribers.clear();
        scheduler.after(nanos, () -> cut.forEach(Link::reconnect));
    }

    void refuse(long nanos) {
        refusal = REFUSALS.get(random.nextInt(REFUSALS.size()));
        refusesUntilNanos = scheduler.nanos() + nanos;
    }

    void step(long nanos) {
        stepMicros += (random.nextBoolean() ? nanos : -nanos) / 1_000;
    }

    void loseAll(long nanos) {
        data.flushAll();
        goDown(nanos);
    }

    void failOver(long nanos) {
        Database.Snapshot latest = replica;
        if (latest != null) {
            data.restore(latest);
        }
        goDown(nanos);
    }

    // Down for a tenth of that time, in the end.
    void fallBack(long nanos) {
        Database.Snapshot copy = data.snapshot();
        scheduler.after(nanos - nanos / 10, () -> {
            data.restore(copy);
            goDown(nanos / 10);
        });
    }

    /** Nobody has the right to use a key any more, which the next script tells. */
    void forbidOne() {
        toForbid++;
    }

    /** The value of a key is of another type, which the next script tells. */
    void spoilOne() {
        toSpoil++;
    }

    // Not one of a single session's: those that get on have to be able to help the others.
    private void chooseKeys(Call call) {
        List<String> keys = call.keys().stream()
                .filter(key -> key.contains(SimulatedSession.NAME) && !key.contains("interlock-"))
                .toList();
        if (toForbid + toSpoil == 0 || keys.isEmpty()) {
            return;
        }
        String key = keys.get(random.nextInt(keys.size()));
        if (toForbid > 0) {
            toForbid--;
            forbidden.add(key);
            trace.add("  nobody may use %s", key);
        } else {
            toSpoil--;
            data.spoil(key);
            spoilt.add(key);
            trace.add("  somebody has overwritten %s", key);
        }
    }

    /** Somebody gives the rights and removes the values. */
    void mend() {
        toForbid = 0;
        toSpoil = 0;
        forbidden.clear();
        spoilt.forEach(data::mend);
        spoilt.clear();
    }

    void evictOne() {
        List<String> keys = List.copyOf(data.keys());
        if (!keys.isEmpty()) {
            String key = keys.get(random.nextInt(keys.size()));
            trace.add("  evicted: %s", key);
            data.delete(key);
        }
    }
}
