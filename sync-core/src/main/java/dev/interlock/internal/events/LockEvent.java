package dev.interlock.internal.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;

/** What a thread does with a lock. */
@Category("Interlock")
abstract class LockEvent extends Event {
    @Label("Lock")
    @Description("The name of the lock, without the session's namespace")
    final String name;

    @Label("Kind")
    @Description("lock, fair lock, quorum lock, adapted lock, write lock or read lock")
    final String kind;

    @Label("Session")
    @Description("The id of the session")
    final String session;

    @Label("Fencing Token")
    @Description("The token of the acquisition; 0 if there is none")
    long token;

    LockEvent(String name, String kind, String session) {
        this.name = name;
        this.kind = kind;
        this.session = session;
    }
}
