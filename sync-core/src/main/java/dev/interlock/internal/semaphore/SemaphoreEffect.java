package dev.interlock.internal.semaphore;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.semaphore.Operations.Operation;

/** A step that the owner of a semaphore's state takes after an event. */
public sealed interface SemaphoreEffect {
    /** Redis is told of the state, after all else. */
    record Tell() implements SemaphoreEffect {}

    /** The same, even if it refuses that. */
    record Insist() implements SemaphoreEffect {}

    /** After that time Redis is asked, rather than with the next pulse. */
    record Ask(long millis) implements SemaphoreEffect {}

    /** The thread that waits for an operation hears what the pool has answered. */
    record Result(Operation operation, int result) implements SemaphoreEffect {}

    /** It hears what the operation has failed by. */
    record Failure(Operation operation, Throwable cause) implements SemaphoreEffect {}

    /** The order of the waiters is {@linkplain LocalPermits#lookAgain looked at again} a moment later. */
    record LookAgain() implements SemaphoreEffect {}

    /** Permits that threads have are lost: listeners are told. */
    record Lost(LeaseLostException loss) implements SemaphoreEffect {}

    /** Permits are lost that threads have released, which don't wait for Redis' confirmation any more. */
    record Unnoticed(LeaseLostException loss) implements SemaphoreEffect {}

    /** Of that many permits that were added to the pool it will never be known whether they were counted. */
    record Dropped(long permits) implements SemaphoreEffect {}
}
