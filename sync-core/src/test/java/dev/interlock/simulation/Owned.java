package dev.interlock.simulation;

import dev.interlock.internal.lock.Tenure;
import org.jspecify.annotations.Nullable;

/** What a thread is inside of. */
interface Owned {
    /** Returns the token of the current acquisition; fails if that was lost. */
    long fencingToken();

    /** Returns the tenure by which its session believes that it owns the name, or null. */
    @Nullable
    Tenure valid();
}
