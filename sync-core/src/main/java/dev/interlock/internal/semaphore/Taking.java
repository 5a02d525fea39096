package dev.interlock.internal.semaphore;

/** Permits on their way to a thread that waits neither in the superclass nor in the queue of the pool. */
class Taking {
    /** How many have arrived. */
    int arrived;

    /** Whether they were lost on their way. */
    boolean stray;
}
