package dev.interlock.simulation;

/** What witnesses look for besides what each of them always does. */
enum Check {
    /** A thread gets in when the one that has the lock has lost it, though that doesn't unlock. */
    LOST_LOCKS_BLOCK_NOBODY
}
