package dev.interlock.simulation;

import dev.interlock.internal.redis.Keys;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Sees whether each fencing token that Redis draws is greater than all before, also than those that it has lost. */
final class TokenOrder {
    /** Of each key, the greatest that was drawn. */
    private final Map<String, Long> greatest = new HashMap<>();

    /** Watches the tokens of these names. */
    TokenOrder(List<Kind> subjects) {
        for (int i = 0; i < subjects.size(); i++) {
            greatest.put(Keys.of("token", subjects.get(i).key(SimulatedSession.name(i))), 0L);
        }
    }

    /** Returns the key of the token that a script may draw, or null. */
    @Nullable
    String key(List<String> keys) {
        return keys.stream().filter(greatest::containsKey).findFirst().orElse(null);
    }

    /** A script was run that may have drawn a token. */
    void ran(String key, @Nullable String before, @Nullable String after) {
        if (after == null || after.equals(before)) {
            return;
        }
        long token = Long.parseLong(after);
        long last = Objects.requireNonNull(greatest.get(key));
        if (token <= last) {
            throw new Violation("Redis draws token " + token + " of " + key + " after " + last);
        }
        greatest.put(key, token);
    }
}
