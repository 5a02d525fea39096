package dev.interlock.ops;

import com.fasterxml.jackson.annotation.JsonFormat;
import dev.interlock.internal.Names;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Threads that wait for each other, each for what the next one holds and the last one for what the first one holds:
 * none of them will ever go on, unless one gives up or {@linkplain Operator#forceRelease loses} what it holds.
 *
 * @param steps the threads, beginning with the one whose lock has the least name
 */
public record Deadlock(List<Step> steps) {
    /**
     * One of the threads.
     *
     * @param session the id of the session by which it holds its lock
     * @param sessionName the name of that session, or null if it doesn't tell
     * @param host its machine
     * @param pid its process
     * @param thread its name
     * @param holds the name of the lock that it holds, and the thread before it waits for
     * @param token the fencing token of that
     * @param waitsFor the name of the lock that it waits for, and the next thread holds
     */
    public record Step(
            String session,
            @Nullable String sessionName,
            String host,
            long pid,
            String thread,
            String holds,
            @JsonFormat(shape = JsonFormat.Shape.STRING) long token,
            String waitsFor) {
        /** Returns it for people: text that anybody may have written is shown without control characters. */
        @Override
        public String toString() {
            String process = "process " + pid + " on " + host;
            String owner = sessionName == null ? process : "session " + sessionName + " (" + process + ")";
            return Names.escaped("thread '" + thread + "' of " + owner + " holds '" + holds + "' (token " + token
                    + ") and waits for '" + waitsFor + "'");
        }
    }
}
