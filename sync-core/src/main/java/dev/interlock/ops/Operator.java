package dev.interlock.ops;

import dev.interlock.RedisUnavailableException;
import java.util.List;

/**
 * Sees what the sessions of a fleet hold and wait for, by asking them all through their mailboxes. Nothing of that is
 * kept anywhere: it costs sessions nothing while nobody asks. Each method waits for Redis for one command time-out, and
 * for the answers until none has come for a second, or for as long as
 * {@link dev.interlock.Interlock#operator(java.time.Duration)} was told: ten times as long at most. A session that
 * hasn't answered by then is <em>silent</em>, and what it has may be missing. What is returned was so a moment ago, in
 * each session at its own time.
 *
 * <p>Locks of all kinds are seen, with their conditions, and semaphores, latches and barriers; not adapted objects of
 * Redisson's. Names are those of the operator's namespace; without one, all names are seen, with the namespaces before
 * them.
 */
public interface Operator {
    /**
     * Returns the sessions that are connected to this Redis, of all namespaces, in the order of their ids.
     *
     * @throws RedisUnavailableException if Redis doesn't answer
     * @throws IllegalStateException if the session is closed
     */
    List<SessionView> sessions();

    /**
     * Returns all sessions, the names in which they have something, and the deadlocks in these, by one question: so it
     * is known which sessions haven't told what they have.
     *
     * @param glob what the names have to match, 1,000 characters at most: {@code *} stands for any characters or none,
     *     {@code ?} for one
     * @throws IllegalArgumentException if the pattern is empty or too long
     * @throws RedisUnavailableException if Redis doesn't answer
     * @throws IllegalStateException if the session is closed
     */
    FleetView look(String glob);

    /**
     * Returns all sessions, and the holders and waiters of a name, by one question: what the sessions tell and, of
     * locks, what Redis knows. Synchronizers of one name but different kinds are different ones; so there is one view
     * for each of them that is in use, none if the name is free.
     *
     * @param name the name, in this session's namespace
     * @throws IllegalArgumentException if the name is empty
     * @throws RedisUnavailableException if Redis doesn't answer
     * @throws IllegalStateException if the session is closed
     */
    FleetView lookAt(String name);

    /**
     * Returns the names in which sessions have something, without what silent sessions have: {@link #look} tells which
     * these are.
     *
     * @param glob what the names have to match, as for {@link #look}
     * @throws IllegalArgumentException if the pattern is empty or too long
     * @throws RedisUnavailableException if Redis doesn't answer
     * @throws IllegalStateException if the session is closed
     */
    List<NameView> find(String glob);

    /**
     * Returns the holders and waiters of a name, as {@link #lookAt} does.
     *
     * @param name the name, in this session's namespace
     * @throws IllegalArgumentException if the name is empty
     * @throws RedisUnavailableException if Redis doesn't answer
     * @throws IllegalStateException if the session is closed
     */
    List<NameView> inspect(String name);

    /**
     * Returns the cycles of threads that wait for each other, in whatever JVMs, as two looks in a row have both shown
     * them. Threads that only read, wait for conditions or for names of other namespaces, are not part of any.
     *
     * @throws RedisUnavailableException if Redis doesn't answer
     * @throws IllegalStateException if the session is closed
     */
    List<Deadlock> deadlocks();

    /**
     * Takes a lock from the thread that has entered with this fencing token: its session marks the lock as lost, as if
     * Redis had lost it, so that its listeners are told and its {@code unlock()} throws; and the next waiter gets it.
     * The thread itself isn't stopped. A silent session can't be told, and so it loses nothing; if it stands still or
     * can't reach Redis, it doesn't renew its lease, and the name is free when that ends.
     *
     * @param name the name of a lock or read-write lock, in this session's namespace
     * @param token what {@link NameView.Holder#token} has shown
     * @return whether that thread was inside and has lost the lock; otherwise nothing has changed
     * @throws IllegalArgumentException if the name is empty, or the token is less than 1
     * @throws RedisUnavailableException if Redis doesn't answer
     * @throws IllegalStateException if the session is closed
     */
    boolean forceRelease(String name, long token);
}
