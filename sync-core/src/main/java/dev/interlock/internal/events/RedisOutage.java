package dev.interlock.internal.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** The time in which Redis doesn't answer a session, from when that is noticed. */
@Name("dev.interlock.RedisOutage")
@Label("Redis Outage")
@Category("Interlock")
@Description("Redis hasn't answered a session")
@StackTrace(false)
public final class RedisOutage extends Event {
    @Label("Server")
    @Description("Redis, a node of a quorum, or the majority of its nodes")
    final String server;

    @Label("Session")
    @Description("The id of the session")
    final String session;

    @Label("Cause")
    @Description("The first failure")
    final String cause;

    @Label("Silence")
    @Description("Time since the first command that was not answered, also if the recording began later")
    @Timespan(Timespan.NANOSECONDS)
    long silence;

    RedisOutage(String server, String session, String cause) {
        this.server = server;
        this.session = session;
        this.cause = cause;
    }

    /** Redis answers again. */
    public void ended(long silenceNanos) {
        silence = silenceNanos;
        commit();
    }
}
