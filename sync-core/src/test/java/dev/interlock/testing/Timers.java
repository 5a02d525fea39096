package dev.interlock.testing;

import java.lang.reflect.Field;
import java.util.List;
import java.util.concurrent.ThreadPoolExecutor;

/** What sessions are going to run later; each is an {@code Interlock} or a {@code QuorumInterlock}. */
public final class Timers {
    private Timers() {}

    /** Returns how many tasks its timer has. */
    public static int pendingOf(Object session) {
        return queueOf(session, "timer");
    }

    /** Returns how many events wait for its listeners. */
    public static int untoldOf(Object session) {
        return queueOf(session, "listeners");
    }

    private static int queueOf(Object session, String executor) {
        try {
            Object of = session;
            for (String name : List.of("session", "environment", executor)) {
                Class<?> type = name.equals("environment") ? of.getClass().getSuperclass() : of.getClass();
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                of = field.get(of);
            }
            return ((ThreadPoolExecutor) of).getQueue().size();
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("sessions have other threads", e);
        }
    }
}
