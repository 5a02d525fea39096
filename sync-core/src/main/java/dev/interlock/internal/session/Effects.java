package dev.interlock.internal.session;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the events of a state have its owner do, in the order in which it has to happen. A state adds to them and reads
 * nothing back; the owner carries them out after the event, with the mutex of the state held. What that brings about
 * (an answer that is there at once, say) is another event, whose effects come after those that are due.
 *
 * @param <E> the effects of one kind of state: values, so that one that is due already is not added again
 */
public final class Effects<E> {
    /** Made when there are some: most names have none at most times. */
    private @Nullable Set<E> due;

    /** Adds one behind the others, unless it is due already. */
    public void add(E effect) {
        Set<E> all = due;
        if (all == null) {
            all = new LinkedHashSet<>(4);
            due = all;
        }
        all.add(effect);
    }

    /** Removes the next one and returns it, or null if there is none. */
    public @Nullable E poll() {
        Set<E> all = due;
        if (all == null) {
            return null;
        }
        Iterator<E> some = all.iterator();
        E next = some.next();
        some.remove();
        if (all.isEmpty()) {
            due = null;
        }
        return next;
    }
}
