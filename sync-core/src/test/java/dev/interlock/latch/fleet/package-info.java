/** Count-down latches between JVMs. */
@NullMarked
package dev.interlock.latch.fleet;

import org.jspecify.annotations.NullMarked;
