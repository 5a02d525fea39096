package dev.interlock.internal.session;

import java.util.ArrayList;
import java.util.List;

/** Looks at effects in place of the owner that carries them out. */
public final class EffectsProbe {
    private EffectsProbe() {}

    /** Removes those that are due, and returns them in their order. */
    public static <E> List<E> poll(Effects<E> effects) {
        List<E> due = new ArrayList<>();
        for (E next = effects.poll(); next != null; next = effects.poll()) {
            due.add(next);
        }
        return due;
    }
}
