package dev.interlock.internal;

import java.util.regex.Pattern;

/** How the keys of a name are called. All keys of one name have to be in one hash slot of a cluster. */
public final class Keys {
    private static final Pattern TAG = Pattern.compile("^[^{]*\\{[^}]+}", Pattern.DOTALL);

    private Keys() {}

    /**
     * Returns the key for something of a name. The hash slot is that of the key of the name as it is, which may choose one by
     * braces of its own.
     */
    public static String of(String kind, String key) {
        return key.contains("{") ? "interlock:" + kind + ":" + key : "interlock:{" + key + "}:" + kind;
    }

    /**
     * Returns what the keys of a name that is no key itself begin with. Whatever follows it, the hash slot is the same: that of the
     * name, or of the braces in it.
     */
    public static String prefix(String name) {
        return TAG.matcher(name).find()
                ? "interlock:" + name + ":"
                : "interlock:{" + name.replace("%", "%25").replace("{", "%7B").replace("}", "%7D") + "}:";
    }
}
