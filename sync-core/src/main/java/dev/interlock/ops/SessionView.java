package dev.interlock.ops;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A session.
 *
 * @param id its id, as Redis has it
 * @param name its {@linkplain dev.interlock.InterlockBuilder#sessionName name}, or null if it is silent or doesn't tell
 * @param host the machine on which it runs, or null if it is silent
 * @param pid its process, or 0 if it is silent
 * @param age since when it has been open, or null if it is silent
 */
public record SessionView(
        String id,
        @Nullable String name,
        @Nullable String host,
        long pid,
        @Nullable Duration age) {
    /** Returns whether it hasn't answered in time: it stands still, can't be reached, or is of another version. */
    public boolean isSilent() {
        return host == null;
    }
}
