package dev.interlock.simulation;

import dev.interlock.simulation.Commands.Command;
import dev.interlock.simulation.Commands.Status;
import dev.interlock.simulation.Value.Text;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Commands on strings. */
final class StringCommands {
    private final Database database;

    StringCommands(Database database) {
        this.database = database;
    }

    Map<String, Command> all() {
        return Map.of("get", words -> get(words.last()), "set", this::set, "incr", this::increment);
    }

    private @Nullable String get(String key) {
        Text text = database.value(key, Text.class);
        return text == null ? null : text.bytes();
    }

    private @Nullable Object set(Words words) {
        String key = words.next();
        Text text = new Text(words.next());
        long ttlMillis = 0;
        boolean keepsTtl = false;
        boolean onlyNew = false;
        boolean onlyOld = false;
        boolean gets = false;
        while (words.hasNext()) {
            switch (words.option()) {
                case "px" -> ttlMillis = ttl(words);
                case "keepttl" -> keepsTtl = true;
                case "nx" -> onlyNew = true;
                case "xx" -> onlyOld = true;
                case "get" -> gets = true;
                default -> throw words.unknown();
            }
        }
        if ((keepsTtl && ttlMillis > 0) || (onlyNew && onlyOld)) {
            throw CommandError.syntax();
        }
        String before = gets ? get(key) : null;
        boolean exists = database.value(key) != null;
        boolean isDone = exists ? !onlyNew : !onlyOld;
        if (isDone && keepsTtl) {
            database.replace(key, text);
        } else if (isDone) {
            database.put(key, text);
        }
        if (isDone && ttlMillis > 0) {
            database.expire(key, ttlMillis);
        }
        return gets ? before : isDone ? Status.OK : null;
    }

    private static long ttl(Words words) {
        long ttlMillis = words.integer();
        if (ttlMillis <= 0) {
            throw new CommandError("ERR invalid expire time in 'set' command");
        }
        return ttlMillis;
    }

    private Long increment(Words words) {
        String key = words.last();
        String before = get(key);
        long value = before == null ? 0 : Numbers.integer(before, CommandError.NOT_AN_INTEGER);
        if (value == Long.MAX_VALUE) {
            throw new CommandError("ERR increment or decrement would overflow");
        }
        database.replace(key, new Text(Long.toString(value + 1)));
        return value + 1;
    }
}
