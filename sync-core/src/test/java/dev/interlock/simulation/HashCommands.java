package dev.interlock.simulation;

import dev.interlock.simulation.Commands.Command;
import dev.interlock.simulation.Value.Hash;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Commands on hashes. */
final class HashCommands {
    private final Database database;
    private final RandomGenerator random;

    HashCommands(Database database, RandomGenerator random) {
        this.database = database;
        this.random = random;
    }

    Map<String, Command> all() {
        return Map.of(
                "hget", words -> fields(words.next()).get(words.last()),
                "hmget", this::getMany,
                "hgetall", this::getAll,
                "hset", this::set,
                "hdel", this::delete,
                "hexists", words -> fields(words.next()).containsKey(words.last()) ? 1L : 0L,
                "hlen", words -> (long) fields(words.last()).size(),
                "hkeys", words -> new ArrayList<>(fields(words.last()).keySet()),
                "hincrby", this::increment,
                "hrandfield", this::randomField);
    }

    private Map<String, String> fields(String key) {
        Hash hash = database.value(key, Hash.class);
        return hash == null ? Map.of() : hash.fields();
    }

    private Map<String, String> fieldsToWrite(String key) {
        Hash hash = database.value(key, Hash.class);
        if (hash == null) {
            hash = new Hash();
            database.put(key, hash);
        }
        return hash.fields();
    }

    private List<@Nullable Object> getMany(Words words) {
        Map<String, String> fields = fields(words.next());
        List<@Nullable Object> values = new ArrayList<>();
        for (String field : words.rest()) {
            values.add(fields.get(field));
        }
        return values;
    }

    private List<Object> getAll(Words words) {
        List<Object> all = new ArrayList<>();
        fields(words.last()).forEach((field, value) -> {
            all.add(field);
            all.add(value);
        });
        return all;
    }

    private Long set(Words words) {
        String key = words.next();
        if (words.left() > 1 && words.left() % 2 != 0) {
            throw new CommandError("ERR wrong number of arguments for 'hset' command");
        }
        List<String> pairs = words.rest(2);
        Map<String, String> fields = fieldsToWrite(key);
        long added = 0;
        for (int i = 0; i < pairs.size(); i += 2) {
            if (fields.put(pairs.get(i), pairs.get(i + 1)) == null) {
                added++;
            }
        }
        return added;
    }

    private Long delete(Words words) {
        String key = words.next();
        Hash hash = database.value(key, Hash.class);
        if (hash == null) {
            return 0L;
        }
        long removed = words.rest().stream()
                .filter(field -> hash.fields().remove(field) != null)
                .count();
        database.removeIfEmpty(key, hash);
        return removed;
    }

    private Long increment(Words words) {
        String key = words.next();
        String field = words.next();
        long step = words.integer();
        words.end();
        String before = fields(key).get(field);
        long value = before == null ? 0 : Numbers.integer(before, "ERR hash value is not an integer");
        try {
            long sum = Math.addExact(value, step);
            fieldsToWrite(key).put(field, Long.toString(sum));
            return sum;
        } catch (ArithmeticException e) {
            throw new CommandError("ERR increment or decrement would overflow");
        }
    }

    private @Nullable String randomField(Words words) {
        List<String> fields = List.copyOf(fields(words.last()).keySet());
        return switch (fields.size()) {
            case 0 -> null;
            case 1 -> fields.get(0);
            default -> fields.get(random.nextInt(fields.size()));
        };
    }
}
