package dev.interlock.simulation;

/** What a plan has besides calls and faults. */
enum Trait {
    /** A thread gets in when the one that has the lock has lost it, though that doesn't unlock. */
    LOST_LOCKS_BLOCK_NOBODY,
    /** Other threads get on while a task of a session runs, as that does on a thread of its own. */
    TASKS_ARE_PREEMPTED,
    /** Fencing tokens increase although Redis loses data. */
    TOKENS_OUTLIVE_LOSSES,
    /** Redis forgets in the end also what a script has left that failed in the middle. */
    HALVES_ARE_FORGOTTEN
}
