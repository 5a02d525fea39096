/** What a fleet of JVMs, killed and paused at will, must see of a lock; and what the API says to bad input. */
@NullMarked
package dev.interlock.fleet;

import org.jspecify.annotations.NullMarked;
