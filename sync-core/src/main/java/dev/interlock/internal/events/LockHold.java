package dev.interlock.internal.events;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;

/** The time for which a thread holds a lock: from its outermost {@code lock()} to its outermost {@code unlock()}. */
@Name("dev.interlock.LockHold")
@Label("Lock Hold")
@Description("A thread has held a lock; readers aren't recorded")
@Threshold(FlightEvents.THRESHOLD)
public final class LockHold extends LockEvent {
    private static final LockHold PROBE = new LockHold("", "", "", 0);

    /** Creates a hold that hasn't begun. */
    public LockHold(String name, String kind, String session, long fencingToken) {
        super(name, kind, session);
        token = fencingToken;
    }

    static boolean isOn() {
        return PROBE.isEnabled();
    }
}
