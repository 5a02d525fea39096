/** Barriers over several JVMs. */
@NullMarked
package dev.interlock.barrier.fleet;

import org.jspecify.annotations.NullMarked;
