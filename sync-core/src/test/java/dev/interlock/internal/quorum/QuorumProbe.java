package dev.interlock.internal.quorum;

import dev.interlock.internal.lock.Tenure;
import dev.interlock.internal.redis.Keys;
import org.jspecify.annotations.Nullable;

/** Looks at a quorum lock's tenure without changing anything, as no thread of the library would. */
public final class QuorumProbe {
    private QuorumProbe() {}

    /** Returns the tenure by which the session believes that it owns the name, by its clock; or null. */
    public static @Nullable Tenure valid(QuorumLock lock, long now) {
        QuorumTenure tenure = lock.tenure();
        return tenure != null && tenure.isUsable(now) ? tenure : null;
    }

    /** Returns the key of the quorum lock of a name. */
    public static String key(String name) {
        return Keys.prefix(name) + "quorum";
    }
}
