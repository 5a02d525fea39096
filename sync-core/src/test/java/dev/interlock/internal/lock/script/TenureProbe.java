package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.Tenure;
import org.jspecify.annotations.Nullable;

/** Looks at a lock's tenure without changing anything, as no thread of the library would. */
public final class TenureProbe {
    private TenureProbe() {}

    /** Returns the tenure by which the session believes that it owns the name, by its clock; or null. */
    public static @Nullable Tenure valid(ScriptLock lock, long nowNanos) {
        LockTenure tenure = lock.view.tenure;
        return tenure != null && tenure.isUsable(nowNanos) ? tenure : null;
    }

    /** Returns whether the current thread has what others would wait for without the session's knowledge. */
    public static boolean isGuarded(ScriptLock lock) {
        return lock.monitor.resource.isHeld();
    }

    /** Returns the tenure by which a session believes that it owns the name of these holds, by its clock; or null. */
    public static @Nullable Tenure valid(HoldQueue holds, long nowNanos) {
        LockTenure tenure = holds.view.tenure;
        return tenure != null && tenure.isUsable(nowNanos) ? tenure : null;
    }

    /** Returns whether the current thread has what others would wait for without the session's knowledge. */
    public static boolean isGuarded(HoldQueue holds) {
        return holds.monitor.resource.isHeld();
    }

    /** Returns what a session has of the name of these holds. */
    public static String state(HoldQueue holds) {
        LockTenure tenure = holds.view.tenure;
        Ticket ticket = holds.view.ticket;
        return tenure != null ? "tenure " + tenure.sequence : ticket != null ? "ticket " + ticket.sequence : "nothing";
    }

    /** Returns the key of a lock. */
    public static String key(ScriptLock lock) {
        return lock.monitor.scripts.key();
    }

    /** Returns the key of the read-write lock of a name. */
    public static String readWriteKey(String name) {
        return LockScripts.readWriteKey(name);
    }
}
