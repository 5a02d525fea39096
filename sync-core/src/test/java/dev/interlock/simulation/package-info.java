/** A fleet, its Redis and its network in one thread and in virtual time: each run is repeated by its seed. */
@NullMarked
package dev.interlock.simulation;

import org.jspecify.annotations.NullMarked;
