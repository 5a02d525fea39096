package dev.interlock.internal.events;

import dev.interlock.SyncListener.Outcome;
import java.util.Locale;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;

/** A thread's attempt to take a lock, from the call until it has both halves, or neither. Re-entries are none. */
@Name("dev.interlock.LockWait")
@Label("Lock Wait")
@Description("A thread has waited for a lock")
@Threshold(FlightEvents.THRESHOLD)
public final class LockWait extends LockEvent {
    private static final LockWait PROBE = new LockWait("", "", "");

    @Label("Source")
    @Description("local: by hand-off, or on a name that the session had; redis: by a command. Of an attempt that has "
            + "failed: whether it was still waiting for threads of this JVM, or for Redis")
    String source = "local";

    @Label("Outcome")
    @Description("acquired, timeout (also: refused at once), interrupted or failed")
    String outcome = "failed";

    /** Creates an attempt that hasn't begun. */
    public LockWait(String name, String kind, String session) {
        super(name, kind, session);
    }

    static boolean isOn() {
        return PROBE.isEnabled();
    }

    /** The session has no tenure that the thread could enter on. */
    public void asksRedis() {
        source = "redis";
    }

    /** The attempt is over. */
    public void ended(Outcome attemptOutcome, long fencingToken) {
        token = fencingToken;
        outcome = attemptOutcome.name().toLowerCase(Locale.ROOT);
        commit();
    }
}
