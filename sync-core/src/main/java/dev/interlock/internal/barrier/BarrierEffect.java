package dev.interlock.internal.barrier;

import dev.interlock.internal.barrier.Arrival.Fate;

/** A step that the owner of a {@link BarrierState} takes after an event. */
sealed interface BarrierEffect {
    /** A thread hears what has become of it. */
    record End(Arrival arrival, Fate fate) implements BarrierEffect {}

    /** A thread hears that it has to run the action. */
    record Act(Arrival arrival) implements BarrierEffect {}

    /** Threads that have begun resets of numbers up to this one hear what has become of these. */
    record EndResets(long last, Fate fate) implements BarrierEffect {}

    /** Redis is told of the state. */
    record Tell() implements BarrierEffect {}

    /** After that time Redis is asked, rather than with the next pulse. */
    record Ask(long millis) implements BarrierEffect {}

    /** The session is no member any more, and won't be one again. */
    record Left() implements BarrierEffect {}
}
