package dev.interlock.testing;

import java.util.Locale;

/** Reads the text that Redis answers to INFO. */
public final class Info {

    private Info() {}

    /** The value of a field, or an empty string if there is no such field. */
    public static String field(String info, String name) {
        return info.lines()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1))
                .findFirst()
                .orElse("");
    }

    /** How often a command ran, from the section {@code commandstats}. */
    static long calls(String commandstats, String command) {
        String field = field(commandstats, "cmdstat_" + command.toLowerCase(Locale.ROOT));
        String prefix = "calls=";
        return field.startsWith(prefix) ? Long.parseLong(field.substring(prefix.length(), field.indexOf(','))) : 0;
    }
}
