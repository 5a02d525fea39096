package dev.interlock.internal.events;

import dev.interlock.LeaseLostException;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A lock, or permits of a semaphore, lost while threads relied on them. */
@Name("dev.interlock.LeaseLost")
@Label("Lease Lost")
@Category("Interlock")
@Description("A lock or permits of a semaphore have been lost")
@StackTrace(false)
final class LeaseLost extends Event {
    @Label("Lock")
    @Description("The name of the lock or semaphore, without the session's namespace")
    final String name;

    @Label("Session")
    @Description("The id of the session")
    final String session;

    @Label("Fencing Token")
    @Description("The token of the acquisition that was lost; 0 if it had none")
    final long token;

    @Label("Message")
    @Description("What was lost, and what the session has seen of it")
    final String message;

    @Label("Noticed")
    @Description("Whether threads could hear of it; false if only the release has found it")
    final boolean noticed;

    LeaseLost(String session, LeaseLostException loss, boolean noticed) {
        name = loss.lockName();
        this.session = session;
        token = loss.fencingToken();
        message = String.valueOf(loss.getMessage());
        this.noticed = noticed;
    }
}
