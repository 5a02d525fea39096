package dev.interlock.ops;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A name with its holders and waiters.
 *
 * @param name the name, without namespace
 * @param kind what it is the name of: {@code lock}, {@code fair lock}, {@code read-write lock}, {@code semaphore},
 *     {@code latch} or {@code barrier}
 * @param holders the sessions that have it: one, or several if they read, or have permits
 * @param waiters the threads that wait for it: for locks in the order in which they are likely to get it, and then
 *     those that wait for conditions; for others session by session, each in the order of its own
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
     * A session that has the name.
     *
     * @param session the id of the session
     * @param sessionName the name of the session, or null if that isn't known
     * @param state how it has the name
     * @param thread the thread that is inside, or null if there is none, it isn't known, or threads share the lock
     * @param reads whether the session has it for reading only
     * @param readLocks how many read locks its threads hold, re-entries included, if it has it for reading only; else 0
     * @param permits how many permits of a semaphore the threads of the session have; else 0
     * @param token the fencing token of the thread that is inside, or 0
     * @param age for how long it has been inside, within a second; null if that isn't known
     */
    public record Holder(
            String session,
            @Nullable String sessionName,
            State state,
            @Nullable String thread,
            boolean reads,
            long readLocks,
            long permits,
            @JsonFormat(shape = JsonFormat.Shape.STRING) long token,
            @Nullable Duration age) {}

    /**
     * A thread that waits for the name.
     *
     * @param session the id of the session
     * @param sessionName the name of the session, or null if that isn't known
     * @param thread the thread, or null if the session is silent
     * @param condition the condition that has to be signalled before, or null
     * @param age for how long it has waited for Redis; if it waits for another thread of its session, for how long it
     *     has been seen to wait for that one, once a second; null if that isn't known
     */
    public record Waiter(
            String session,
            @Nullable String sessionName,
            @Nullable String thread,
            @Nullable String condition,
            @Nullable Duration age) {}
}
