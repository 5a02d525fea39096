package dev.interlock.cli;

import dev.interlock.Interlock;
import dev.interlock.ops.FleetView;
import dev.interlock.ops.NameView;
import dev.interlock.ops.SessionView;
import java.time.Clock;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An operator's look at names and sessions, and its time.
 *
 * @param names the names that were asked for
 * @param sessions all sessions by their ids, but for the one that has asked
 * @param at when, by the clock of this machine
 */
record Snapshot(List<NameView> names, Map<String, SessionView> sessions, Instant at) {
    /** Returns what a session has seen. */
    static Snapshot of(Interlock session, FleetView seen) {
        return of(session, seen.names(), seen.sessions());
    }

    /** Returns the sessions that one has seen. */
    static Snapshot of(Interlock session, List<SessionView> seen) {
        return of(session, List.of(), seen);
    }

    private static Snapshot of(Interlock session, List<NameView> names, List<SessionView> seen) {
        Map<String, SessionView> sessions = new LinkedHashMap<>();
        seen.stream().filter(one -> !one.id().equals(session.id())).forEach(one -> sessions.put(one.id(), one));
        return new Snapshot(names, sessions, Clock.systemUTC().instant());
    }

    /** Returns a session; it is silent if it has gone since, or is a plain {@code RLock} client. */
    SessionView session(String id) {
        SessionView session = sessions.get(id);
        return session == null ? new SessionView(id, null, null, 0, null, 0, null) : session;
    }

    /** Returns the sessions that haven't answered. */
    List<SessionView> silent() {
        return sessions.values().stream().filter(SessionView::isSilent).toList();
    }

    /** Returns whether nobody has any of the names, though threads may wait for conditions. */
    boolean isFree() {
        return names.stream().allMatch(name -> Contention.state(name).equals("free"));
    }
}
