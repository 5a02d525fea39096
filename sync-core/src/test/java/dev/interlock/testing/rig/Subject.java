package dev.interlock.testing.rig;

import dev.interlock.testing.Keyspace;

/**
 * A kind of synchronizer, as {@link Peer}s use it: what its threads can be told to do, and how to see that they wait.
 * Parent and child have an instance each; that of the child is made by a constructor without parameters.
 */
public interface Subject {

    /** Opens the synchronizer that a session is about; called in the child. */
    Verbs open(Session session);

    /** How many wait for a name, by what Redis knows; called in the parent. */
    long waiting(Keyspace keyspace, String name);
}
