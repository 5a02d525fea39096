package dev.interlock.simulation;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The keys of a Redis with their values and expiry, at a time that stands still while a script runs. */
final class Database {
    private static final long NEVER = Long.MAX_VALUE;

    /** A value, and when it expires. */
    private static final class Entry {
        final Value value;
        long expiryMillis;

        Entry(Value value, long expiryMillis) {
            this.value = value;
            this.expiryMillis = expiryMillis;
        }
    }

    /** What a database held at a time. */
    static final class Snapshot {
        private final Map<String, Entry> entries;

        private Snapshot(Map<String, Entry> entries) {
            this.entries = entries;
        }
    }

    private final Map<String, Entry> entries = new HashMap<>();
    private long micros;

    void setTime(long micros) {
        this.micros = micros;
    }

    long micros() {
        return micros;
    }

    private long millis() {
        return Math.floorDiv(micros, 1_000L);
    }

    private @Nullable Entry entry(String key) {
        Entry entry = entries.get(key);
        if (entry != null && entry.expiryMillis < millis()) {
            entries.remove(key);
            return null;
        }
        return entry;
    }

    /** Returns the value of a key, or null. */
    @Nullable
    Value value(String key) {
        Entry entry = entry(key);
        return entry == null ? null : entry.value;
    }

    /** Returns the value of a key, or null; refuses one of another type. */
    <T extends Value> @Nullable T value(String key, Class<T> type) {
        Value value = value(key);
        if (value != null && !type.isInstance(value)) {
            throw CommandError.wrongType();
        }
        return type.cast(value);
    }

    /** Writes a value; what there was is gone, and with it its expiry. */
    void put(String key, Value value) {
        entries.put(key, new Entry(value, NEVER));
    }

    /** Writes a value, and leaves the expiry of the key as it is. */
    void replace(String key, Value value) {
        Entry before = entry(key);
        entries.put(key, new Entry(value, before == null ? NEVER : before.expiryMillis));
    }

    boolean remove(String key) {
        boolean wasThere = entry(key) != null;
        entries.remove(key);
        return wasThere;
    }

    /** Removes a key whose last field or member is gone. */
    void removeIfEmpty(String key, Value value) {
        if (value.isEmpty()) {
            entries.remove(key);
        }
    }

    /** Has a key expire after a time, at once if there is none of it. Returns whether there is such a key. */
    boolean expire(String key, long ttlMillis) {
        Entry entry = entry(key);
        if (entry == null) {
            return false;
        }
        if (ttlMillis <= 0) {
            entries.remove(key);
        } else {
            entry.expiryMillis = millis() + ttlMillis;
        }
        return true;
    }

    /** Returns for how long a key lives, -1 if it doesn't expire, -2 if there is none. */
    long ttlMillis(String key) {
        Entry entry = entry(key);
        return entry == null ? -2 : entry.expiryMillis == NEVER ? -1 : entry.expiryMillis - millis();
    }

    void clear() {
        entries.clear();
    }

    /** Returns all keys, in order. */
    Set<String> keys() {
        entries.values().removeIf(entry -> entry.expiryMillis < millis());
        return new TreeSet<>(entries.keySet());
    }

    Snapshot snapshot() {
        return new Snapshot(copied(entries));
    }

    void restore(Snapshot snapshot) {
        entries.clear();
        entries.putAll(copied(snapshot.entries));
    }

    private static Map<String, Entry> copied(Map<String, Entry> entries) {
        Map<String, Entry> copy = new HashMap<>();
        entries.forEach((key, entry) -> copy.put(key, new Entry(entry.value.copy(), entry.expiryMillis)));
        return copy;
    }

    /** Returns a line for each key: its name, the type and content of its value, and its TTL. */
    String dump() {
        Map<String, String> lines = new TreeMap<>();
        for (String key : keys()) {
            long ttlMillis = ttlMillis(key);
            String ttl = ttlMillis < 0 ? "" : " ttl " + ttlMillis;
            lines.put(key, Bytes.printable(key) + " " + value(key) + ttl + "\n");
        }
        return String.join("", lines.values());
    }
}
