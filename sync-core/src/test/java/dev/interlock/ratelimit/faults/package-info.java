/** Rate limiters on a faulty network. */
@NullMarked
package dev.interlock.ratelimit.faults;

import org.jspecify.annotations.NullMarked;
