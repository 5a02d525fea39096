/** What operators see of a fleet: who holds what, and who waits for it. */
@NullMarked
package dev.interlock.ops;

import org.jspecify.annotations.NullMarked;
