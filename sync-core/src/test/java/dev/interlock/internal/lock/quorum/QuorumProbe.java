package dev.interlock.internal.lock.quorum;

/** Looks at a quorum lock's tenure without changing anything, as no thread of the library would. */
public final class QuorumProbe {
    private QuorumProbe() {}

    /** Returns whether the session believes that it owns the name, by its clock. */
    public static boolean isValid(QuorumLock lock, long now) {
        QuorumTenure tenure = lock.tenure();
        return tenure != null && tenure.isUsable(now);
    }
}
