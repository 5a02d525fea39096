package dev.interlock.internal.lock.quorum;

import dev.interlock.internal.redis.Keys;

/** Looks at a quorum lock's tenure without changing anything, as no thread of the library would. */
public final class QuorumProbe {
    private QuorumProbe() {}

    /** Returns whether the session believes that it owns the name, by its clock. */
    public static boolean isValid(QuorumLock lock, long now) {
        QuorumTenure tenure = lock.tenure();
        return tenure != null && tenure.isUsable(now);
    }

    /** Returns the key of the quorum lock of a name. */
    public static String key(String name) {
        return Keys.prefix(name) + "quorum";
    }
}
