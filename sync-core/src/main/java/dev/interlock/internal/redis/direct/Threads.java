package dev.interlock.internal.redis.direct;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** The threads of connections: one for each that reads, and some of all sessions that connect and write. */
final class Threads {
    private static final Executor SHARED = Executors.newCachedThreadPool(new ThreadFactoryBuilder()
            .setDaemon(true)
            .setNameFormat("interlock-connections-%d")
            .build());

    private static final @Nullable MethodHandle IS_VIRTUAL = isVirtual();

    private Threads() {}

    private static @Nullable MethodHandle isVirtual() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return null; // before JDK 21
        }
    }

    /** Runs a task that may block, on a thread of its own. */
    static void execute(Runnable task) {
        SHARED.execute(task);
    }

    /** Returns a thread that reads, not yet started. */
    static Thread reader(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Returns whether the current thread may write to a socket: an interrupt of a virtual thread would close it. */
    static boolean mayWrite() {
        if (IS_VIRTUAL == null) {
            return true;
        }
        try {
            return !(boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable e) {
            return false;
        }
    }
}
