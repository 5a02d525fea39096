/** A session's own connections to Redis. */
@NullMarked
package dev.interlock.internal.redis.direct;

import org.jspecify.annotations.NullMarked;
