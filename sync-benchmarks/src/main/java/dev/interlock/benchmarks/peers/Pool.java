package dev.interlock.benchmarks.peers;

import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a thread needs one of from lock to unlock, such as a connection. It is kept for the next thread, so that there
 * are as many as threads that have been in between at once.
 */
final class Pool<T> implements AutoCloseable {

    private final Deque<T> free = new ConcurrentLinkedDeque<>();
    private final Map<Thread, T> taken = new ConcurrentHashMap<>();
    private final Supplier<T> source;
    private final Consumer<T> end;

    /**
     * An empty pool.
     *
     * @param source makes one
     * @param end ends one
     */
    Pool(Supplier<T> source, Consumer<T> end) {
        this.source = source;
        this.end = end;
    }

    /** Gives one to this thread. */
    T take() {
        T kept = free.pollFirst();
        T one = kept == null ? source.get() : kept;
        taken.put(Thread.currentThread(), one);
        return one;
    }

    /** That which this thread has taken. */
    T taken() {
        return held(taken.get(Thread.currentThread()));
    }

    /** Takes it back from this thread. */
    void giveBack() {
        free.addFirst(held(taken.remove(Thread.currentThread())));
    }

    private static <T> T held(@Nullable T one) {
        if (one == null) {
            throw new IllegalMonitorStateException("not locked by this thread");
        }
        return one;
    }

    /** Ends those that no thread has. */
    @Override
    public void close() {
        free.forEach(end);
        free.clear();
    }
}
