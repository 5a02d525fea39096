package dev.interlock.simulation;

import dev.interlock.internal.redis.Script;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A Redis in memory: it runs the library's scripts, unchanged, by the Lua of Redis on a model of its data. All that it
 * does follows from its arguments: the time is given, and so is what is random.
 *
 * <p>It isn't thread-safe; threads may use it one after the other.
 */
final class MemoryRedis {
    private final LongSupplier clockMicros;
    private final BinaryOperator<String> patch;
    private final Database database = new Database();
    private final Commands commands;
    private final Map<Script, String> texts = new HashMap<>();
    private long scriptsRun;

    /**
     * Creates an empty Redis.
     *
     * @param clockMicros the time of its host, µs since 1970, which may also step
     * @param random what {@code HRANDFIELD} draws from
     * @param publisher where messages go
     */
    MemoryRedis(LongSupplier clockMicros, RandomGenerator random, Publisher publisher) {
        this(clockMicros, random, publisher, (script, text) -> text);
    }

    /**
     * Creates an empty Redis that runs other scripts than it is given.
     *
     * @param patch returns what is run instead, of the name of a script and its text; is asked once for each
     */
    MemoryRedis(LongSupplier clockMicros, RandomGenerator random, Publisher publisher, BinaryOperator<String> patch) {
        this.clockMicros = clockMicros;
        this.patch = patch;
        this.commands = new Commands(database, random, publisher);
    }

    /**
     * Runs a script.
     *
     * @return what Redisson reads: a Long, a String, null or a list of these for each element
     * @throws org.redisson.client.RedisException if the script fails; it begins with Redis' own words
     */
    List<Object> run(Script.Call call) {
        Script script = call.script();
        String text = texts.get(script);
        if (text == null) {
            text = patch.apply(script.toString(), script.text());
            texts.put(script, text);
        }
        return eval(text, call.keys(), call.arguments());
    }

    /** Runs the text of a script, as {@link #run} does. */
    List<Object> eval(String text, List<String> keys, List<String> arguments) {
        scriptsRun++;
        lookAtClock();
        return LuaEngine.run(text, keys, arguments, commands);
    }

    private void lookAtClock() {
        database.setTime(clockMicros.getAsLong());
    }

    /** Returns how many scripts were run. */
    long scriptsRun() {
        return scriptsRun;
    }

    /** Returns how often scripts have called each command. */
    Map<String, Long> commandsRun() {
        return commands.counts();
    }

    /** Returns all data as they are now. */
    Database.Snapshot snapshot() {
        return database.snapshot();
    }

    /** Has the data be those of an earlier time: a failover has lost what was written since. */
    void restore(Database.Snapshot snapshot) {
        database.restore(snapshot);
    }

    /** Loses all data. */
    void flushAll() {
        database.clear();
    }

    /** Removes a key, as an eviction does. Returns whether there was such a key. */
    boolean delete(String key) {
        lookAtClock();
        return database.remove(Bytes.of(key));
    }

    /** Returns the string at a key, or null. */
    @Nullable
    String text(String key) {
        lookAtClock();
        return database.value(Bytes.of(key)) instanceof Value.Text text ? Bytes.text(text.bytes()) : null;
    }

    /** Puts a value of a type at a key that no script knows. */
    void spoil(String key) {
        database.put(Bytes.of(key), new Value.Unknown());
    }

    /** Removes such a value if it is still there. */
    void mend(String key) {
        if (database.value(Bytes.of(key)) instanceof Value.Unknown) {
            database.remove(Bytes.of(key));
        }
    }

    /** Returns all keys, in order. */
    Set<String> keys() {
        lookAtClock();
        Set<String> keys = new TreeSet<>();
        database.keys().forEach(key -> keys.add(Bytes.text(key)));
        return keys;
    }

    /** Returns for how long a key lives, ms: -1 if it doesn't expire, -2 if there is none. */
    long pttl(String key) {
        lookAtClock();
        return database.ttlMillis(Bytes.of(key));
    }

    /** Returns all data in a canonical form: a line for each key, with its type, content and TTL. */
    String dump() {
        lookAtClock();
        return database.dump();
    }
}
