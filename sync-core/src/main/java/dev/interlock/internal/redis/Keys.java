package dev.interlock.internal.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.interlock.internal.Names;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How the keys of a name are called. All keys of one name have to be in one hash slot of a cluster. */
public final class Keys {
    /** A name travels with each command and message about it, and is part of several keys. */
    private static final int MOST_BYTES = 1_024;

    private static final Pattern TAG = Pattern.compile("^[^{]*\\{([^}]+)}", Pattern.DOTALL);

    private Keys() {}

    /**
     * Returns the key for something of a name. The hash slot is that of the key of the name as it is, which may choose
     * one by braces of its own.
     */
    public static String of(String kind, String key) {
        return key.contains("{") ? "interlock:" + kind + ":" + key : "interlock:{" + key + "}:" + kind;
    }

    /**
     * Returns what the keys of a name that is no key itself begin with. Whatever follows it, the hash slot is the same:
     * that of the name, or of the braces in it. No two names have keys in common.
     */
    public static String prefix(String name) {
        Matcher tag = TAG.matcher(name);
        // The tag alone would be that of the name without braces.
        return tag.find()
                ? "interlock:{" + tag.group(1) + "}:" + encoded(name).replace(":", "%3A") + ":"
                : "interlock:{" + encoded(name) + "}:";
    }

    /**
     * As {@link #prefix(String)}, of one of the shares into which the keys of a name are divided, so that the nodes of
     * a cluster have some of them each. A name with braces keeps them all in the hash slot that it chooses.
     */
    public static String prefix(String name, int share) {
        // No encoded name contains "%s".
        return TAG.matcher(name).find() ? prefix(name) : "interlock:{" + encoded(name) + "%s" + share + "}:";
    }

    private static String encoded(String name) {
        return name.replace("%", "%25").replace("{", "%7B").replace("}", "%7D");
    }

    /**
     * Checks a name that users give: anything but the empty string will do that isn't too long, and that Redis can tell
     * from all others.
     */
    public static void checkName(String argument, String name) {
        if (requireNonNull(name, argument).isEmpty()) {
            throw new IllegalArgumentException(argument + " must not be empty");
        }
        checkText(argument, name);
    }

    /** Checks that the key of a lock, which is its name, is none of those that are kept for locks and others. */
    public static void checkLockKey(String argument, String key) {
        if (key.startsWith("interlock:") && key.contains("{")) {
            throw new IllegalArgumentException(argument
                    + " must not begin with 'interlock:' and contain '{', as the keys do in which locks are kept,"
                    + " but is "
                    + Names.quoted(key));
        }
    }

    /**
     * Checks that text which becomes part of keys isn't too long, and is the same for Redis as for us. Half a surrogate
     * pair isn't: UTF-8 has none, and makes it a '?'.
     */
    public static void checkText(String argument, String text) {
        // No character takes more than three bytes, and no other name costs more than this comparison.
        if (text.length() > MOST_BYTES / 3 && text.getBytes(UTF_8).length > MOST_BYTES) {
            throw new IllegalArgumentException(argument + " must be at most " + MOST_BYTES
                    + " bytes long in UTF-8, but has " + text.getBytes(UTF_8).length);
        }
        if (hasSurrogates(text) && !UTF_8.newEncoder().canEncode(text)) {
            throw new IllegalArgumentException(
                    argument + " must be text that UTF-8 can encode, but contains half a surrogate pair");
        }
    }

    // Hardly any name does, and an encoder costs more than the rest of the checks.
    private static boolean hasSurrogates(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return true;
            }
        }
        return false;
    }
}
