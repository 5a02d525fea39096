/** Barriers over a network that loses, delays and repeats, and a Redis that forgets. */
@NullMarked
package dev.interlock.barrier.faults;

import org.jspecify.annotations.NullMarked;
