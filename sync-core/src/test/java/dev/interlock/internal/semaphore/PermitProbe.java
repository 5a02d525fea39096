package dev.interlock.internal.semaphore;

/** Looks at a session's permits without changing anything, as no thread of the library would. */
public final class PermitProbe {
    private PermitProbe() {}

    /** Returns how many permits threads have that certainly are the session's, by its clock. */
    public static long valid(SemaphoreSync semaphore, long nowNanos) {
        return semaphore
                .remote()
                .resource()
                .call((known, now) -> known.isUncertain(nowNanos) ? 0 : known.holdings.valid());
    }

    /** Returns whether the current thread has what others would wait for without the session's knowledge. */
    public static boolean isGuarded(SemaphoreSync semaphore) {
        return semaphore.remote().resource().isHeld();
    }

    /** Returns how many permits those of these holds are that are certainly the session's. */
    public static long valid(PermitQueue holds, long nowNanos) {
        return holds.resource.call((known, now) -> known.isUncertain(nowNanos) ? 0 : known.holdings.valid());
    }

    /** Returns whether the current thread has what others would wait for without the session's knowledge. */
    public static boolean isGuarded(PermitQueue holds) {
        return holds.resource.isHeld();
    }
}
