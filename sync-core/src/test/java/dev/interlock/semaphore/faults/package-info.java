/** Semaphores when answers, messages, connections and data get lost. */
@NullMarked
package dev.interlock.semaphore.faults;

import org.jspecify.annotations.NullMarked;
