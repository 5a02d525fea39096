package dev.interlock.ops;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A session.
 *
 * @param id its id, as Redis has it
 * @param name its {@linkplain dev.interlock.InterlockBuilder#sessionName name}, or null if that isn't known
 * @param host the machine on which it runs, or null if that isn't known
 * @param pid its process, or 0 if that isn't known
 * @param version its version of this library, or null if that isn't known
 * @param protocol that by which it shares names with others, or 0 if that isn't known; sessions of different protocols
 *     can't share any
 * @param age since when it has been open, or null if it is silent
 */
public record SessionView(
        String id,
        @Nullable String name,
        @Nullable String host,
        long pid,
        @Nullable String version,
        int protocol,
        @Nullable Duration age) {
    /**
     * Returns whether it hasn't answered in time, or not completely: it stands still, can't be reached, or is of
     * another version. Redis tells its host, process and version, if it is connected.
     */
    public boolean isSilent() {
        return age == null;
    }
}
