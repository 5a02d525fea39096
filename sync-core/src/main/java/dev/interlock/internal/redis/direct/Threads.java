package dev.interlock.internal.redis.direct;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of connections: one for each that reads, some that connect, and, for all sessions, some that write what
 * would block others. These end when they have had nothing to do for a while.
 */
final class Threads {
    private static final Logger log = LoggerFactory.getLogger(Threads.class);
    private static final Executor WRITERS = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            5,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            new ThreadFactoryBuilder()
                    .setDaemon(true)
                    .setNameFormat("interlock-writer-%d")
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

    /** Runs a task that may block, on one of the threads that write. */
    static void write(Runnable task) {
        WRITERS.execute(task);
    }

    /** Runs a task that may block, on a thread of its own. */
    static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Runs a task that may block on a thread of its own, or not at all if there are too many threads. */
    static void startIfPossible(String name, Runnable task) {
        try {
            start(name, task);
        } catch (Error e) {
            log.debug("No thread for {}", name, e);
        }
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
