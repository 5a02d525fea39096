package dev.interlock.ops;

import java.util.List;

/**
 * The answers of a fleet to one question. Names may be missing, since a silent session doesn't tell what it has.
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
