package dev.interlock.ops;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who has a name, and who waits for it.
 *
 * @param name the name, without namespace
 * @param kind what it is the name of: {@code lock}, {@code fair lock}, {@code read-write lock}, {@code semaphore},
 *     {@code latch} or {@code barrier}
 * @param holders who has it: one, or several if they read, or have permits
 * @param waiters who waits for it: for locks in the order in which they are likely to get it, and then those that wait
 *     for conditions; for others session by session, each in the order of its own
 */
public record NameView(String name, String kind, List<Holder> holders, List<Waiter> waiters) {
    /** How a session has a name. */
    public enum State {
        /** A thread is inside. */
        INSIDE,

        /** No thread is inside; the session keeps the name for its next one, and gives it up when it is asked. */
        KEPT,

        /** No thread is inside; the session has sent the release. */
        LEAVING,

        /** Redis says that it owns the name, but it hasn't answered; or it is a plain {@code RLock} client. */
        SILENT
    }

    /**
     * Who has it.
     *
     * @param session the id of the session
     * @param state how it has the name
     * @param thread the thread that is inside, or null if there is none, it isn't known, or threads share the lock
     * @param reads whether the session has it for reading only
     * @param permits how many permits of a semaphore the threads of the session have; else 0
     * @param token the fencing token of the thread that is inside, or 0
     * @param age for how long it has been inside, within a second; null if that isn't known
     */
    public record Holder(
            String session,
            State state,
            @Nullable String thread,
            boolean reads,
            long permits,
            long token,
            @Nullable Duration age) {}

    /**
     * Who waits for it.
     *
     * @param session the id of the session
     * @param thread the thread, or null if the session is silent
     * @param condition the condition that has to be signalled before, or null
     * @param age for how long it has waited for Redis; null if it waits for other threads of its session, or that isn't
     *     known
     */
    public record Waiter(
            String session,
            @Nullable String thread,
            @Nullable String condition,
            @Nullable Duration age) {}
}
