package dev.interlock.internal.events;

import dev.interlock.LeaseLostException;
import org.jspecify.annotations.Nullable;

/**
 * Records events where the JDK has a Flight Recorder: a run-time image may lack its module. No class of an event is
 * loaded then, so others name them only where one has been created.
 */
public final class FlightEvents {
    /** Waits and holds that are shorter aren't recorded, unless a recording has it otherwise. */
    static final String THRESHOLD = "20 ms";

    private static final boolean ARE_PRESENT =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightEvents() {}

    /** Returns whether a recording wants to know of waits or holds. As long as there is none, this costs nothing. */
    public static boolean areLocksRecorded() {
        return ARE_PRESENT && (LockWait.isOn() || LockHold.isOn());
    }

    /**
     * Records a loss.
     *
     * @param noticed whether threads could hear of it
     */
    public static void lost(String session, LeaseLostException loss, boolean noticed) {
        if (ARE_PRESENT) {
            new LeaseLost(session, loss, noticed).commit();
        }
    }

    /** Begins to record an outage, or returns null where nothing can be recorded. */
    public static @Nullable RedisOutage outage(String server, String session, String cause) {
        if (!ARE_PRESENT) {
            return null;
        }
        RedisOutage outage = new RedisOutage(server, session, cause);
        outage.begin();
        return outage;
    }
}
