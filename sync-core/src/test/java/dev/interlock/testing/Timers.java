package dev.interlock.testing;

import java.lang.reflect.Field;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** The timers of sessions. */
public final class Timers {
    private Timers() {}

    /** Returns how many tasks a session is going to run later; it is an {@code Interlock} or a {@code QuorumInterlock}. */
    public static int pendingOf(Object session) {
        try {
            Object of = session;
            for (String name : List.of("session", "environment", "timer")) {
                Class<?> type = name.equals("environment") ? of.getClass().getSuperclass() : of.getClass();
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                of = field.get(of);
            }
            return ((ScheduledThreadPoolExecutor) of).getQueue().size();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError("sessions have another timer", e);
        }
    }
}
