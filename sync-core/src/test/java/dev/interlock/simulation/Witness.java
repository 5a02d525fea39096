package dev.interlock.simulation;

import java.util.List;

/**
 * Sees what the threads of all JVMs do with one name, and throws a {@link Violation} when a promise of the library is
 * broken.
 */
interface Witness {
    /** A call of that thread has ended, in whatever way: it holds nothing any more. */
    void ended(Actor actor);

    /**
     * Returns the calls that those need who wait for nothing but calls of others. They are made, one after the other,
     * when nobody else is left.
     *
     * @param subject the number of the name
     */
    List<Op> rescue(int subject);

    /**
     * Returns the calls that have to succeed at the end, when no other thread is left, and after them nothing remains.
     */
    default List<Op> finale(int subject) {
        return List.of();
    }

    /** Returns how often threads have got what they had called for. */
    long entries();
}
