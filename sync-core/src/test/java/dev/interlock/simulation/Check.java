package dev.interlock.simulation;

/** What witnesses look for besides what each of them always does. */
enum Check {
}
