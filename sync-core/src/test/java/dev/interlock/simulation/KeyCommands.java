package dev.interlock.simulation;

import dev.interlock.simulation.Commands.Command;
import java.util.Map;

/** Commands on keys with values of any type. */
final class KeyCommands {
    private final Database database;

    KeyCommands(Database database) {
        this.database = database;
    }

    Map<String, Command> all() {
        return Map.of(
                "del", this::delete,
                "unlink", this::delete,
                "exists", this::exists,
                "pexpire", this::expire,
                "pttl", words -> database.ttlMillis(words.last()));
    }

    private Long delete(Words words) {
        return words.rest().stream().filter(database::remove).count();
    }

    private Long exists(Words words) {
        long count = 0;
        for (String key : words.rest()) {
            if (database.value(key) != null) {
                count++;
            }
        }
        return count;
    }

    private Long expire(Words words) {
        String key = words.next();
        long ttlMillis = words.integer();
        if (words.hasNext()) {
            throw words.unknown();
        }
        return database.expire(key, ttlMillis) ? 1L : 0L;
    }
}
