package dev.interlock.internal.session;

import dev.interlock.internal.redis.AnswerSpinner;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/**
 * What a session runs on beside Redis and the ticker: a timer, threads that wait and are woken, randomness. A simulator
 * takes the place of the real one, {@link ThreadEnvironment}.
 */
public interface Environment extends LeaseRenewer.Timer {
    /** Returns the id of the session. */
    String id();

    /** Returns the time in nanoseconds since some moment: the real time, however fast the session's ticker goes. */
    long nanoTime();

    /** Returns whether the current thread is the one on which the timer runs its tasks. */
    boolean isTimerThread();

    /** Runs users' listeners, which may take their time, one after the other. */
    Executor listeners();

    /** Returns what runs one of users' listeners, one call after the other, whatever other listeners do meanwhile. */
    default Executor listenerOfItsOwn() {
        return listeners();
    }

    /**
     * Returns what runs tasks in a thread that does nothing else, one after the other, until a stage completes. They
     * may take any time, also that of a session that is closed.
     */
    default Executor threadOfItsOwn(String role, CompletionStage<?> until) {
        return listeners();
    }

    /**
     * As {@link #listeners}, for reports of which there may be many, and that needn't be told one by one: if too many
     * wait, further ones are dropped, which the log says.
     */
    default Executor reports() {
        return listeners();
    }

    /**
     * Runs what users have depend on answers for which they don't wait; it may take its time. Even a session that is
     * closed runs it.
     */
    Executor continuations();

    /**
     * Puts the current thread to sleep until it is woken, interrupted, or the time is over; maybe for no reason.
     *
     * @param blocker what thread dumps show
     */
    void park(Object blocker, long nanos);

    /** Wakes a thread, or ends its next sleep at once. */
    void unpark(Thread thread);

    /** Returns what spins for replies that are due. */
    AnswerSpinner spinner();

    /** Returns about how many names whose locks a session waits for it asks in a second. */
    default int namesASecond() {
        return 2_000;
    }

    /** Returns a source of random numbers. */
    RandomGenerator random();

    /** Ends the timer and, once all have been told, the listeners' thread. */
    void stop();
}
