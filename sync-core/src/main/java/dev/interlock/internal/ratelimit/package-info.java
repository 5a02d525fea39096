/** Rate limiters, as the session and Redis see them. */
@NullMarked
package dev.interlock.internal.ratelimit;

import org.jspecify.annotations.NullMarked;
