/** What must hold when the network, Redis, other threads and operators do what they can. */
@NullMarked
package dev.interlock.lock.faults;

import org.jspecify.annotations.NullMarked;
