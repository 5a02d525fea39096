package dev.interlock.testing.rig;

import java.time.Duration;
import java.util.List;

/**
 * What the threads of a {@link Hammer} do over and over: enter, leave, and record what they have seen. It opens its
 * session in a constructor whose only parameter is its {@link Task}, and closes it in the end. Its {@code toString()}
 * is the state of the synchronizer, for people.
 */
public interface Work extends AutoCloseable {

    /** How threads record what they have seen. */
    LogFormat<?> format();

    /** Called before any thread is started. */
    default void assign(List<Thread> threads, List<Log> logs) {}

    /** Does it once. */
    void once(int thread, Log log) throws InterruptedException;

    /** How long it is, on average, until one of the threads is interrupted; zero if none ever is. */
    default Duration interrupts() {
        return Duration.ZERO;
    }

    /** Called when threads are to end, which may be waiting for each other. */
    default void end() {}

    /** What the parent is told when this is ready. */
    default String greeting() {
        return "";
    }

    /** What the parent is told when this has been closed. */
    default String farewell() {
        return "";
    }

    @Override
    void close();
}
