package dev.interlock.ops;

import java.util.List;

/**
 * What a fleet has answered to one question. Of a silent session it isn't known what it has, so that names may be
 * missing.
 *
 * @param sessions all sessions that were asked, also the silent ones, in the order of their ids
 * @param names the names that were asked for, in which sessions have something
 * @param deadlocks the threads that wait for each other, by locks among these names
 */
public record FleetView(List<SessionView> sessions, List<NameView> names, List<Deadlock> deadlocks) {
    /** Returns the sessions that haven't answered in time, or not completely: what they have may be missing. */
    public List<SessionView> silent() {
        return sessions.stream().filter(SessionView::isSilent).toList();
    }
}
