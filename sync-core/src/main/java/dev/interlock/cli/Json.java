package dev.interlock.cli;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes JSON, in a line and in ASCII, whatever the encoding of the terminal. */
final class Json {
    private Json() {}

    /**
     * Returns a value as JSON.
     *
     * @param value a map whose keys are strings, a list, a string, a number, a boolean or null
     * @throws IllegalArgumentException if it is something else
     */
    static String of(@Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> quoted(String.valueOf(entry.getKey())) + ":" + of(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(Json::of).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof String text) {
            return quoted(text);
        }
        if (value == null || value instanceof Long || value instanceof Integer || value instanceof Boolean) {
            return String.valueOf(value);
        }
        throw new IllegalArgumentException("value must be of a type that JSON has, but is a " + value.getClass());
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c >= ' ' && c <= '~') {
                quoted.append(c);
            } else {
                quoted.append(String.format("\\u%04x", (int) c));
            }
        }
        return quoted.append('"').toString();
    }
}
