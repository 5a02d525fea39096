/** Count-down latches, and what a network, a Redis and a JVM can do to them. */
@NullMarked
package dev.interlock.latch.faults;

import org.jspecify.annotations.NullMarked;
