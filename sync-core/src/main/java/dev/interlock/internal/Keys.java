package dev.interlock.internal;

/** How the keys of a name are called. All keys of one name have to be in one hash slot of a cluster. */
public final class Keys {
    private Keys() {}

    /**
     * Returns the key for something of a name. The hash slot is that of the key of the name as it is, which may choose one by
     * braces of its own.
     */
    public static String of(String kind, String key) {
        return key.contains("{") ? "interlock:" + kind + ":" + key : "interlock:{" + key + "}:" + kind;
    }
}
