/** What a fleet of JVMs, killed and paused at will, sees of a lock; and what a crowd of threads does. */
@NullMarked
package dev.interlock.lock.fleet;

import org.jspecify.annotations.NullMarked;
