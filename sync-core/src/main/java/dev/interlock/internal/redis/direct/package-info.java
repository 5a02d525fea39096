/** Connections to Redis of a session's own: the codec, the connections, and the script runner and mailbox on them. */
@NullMarked
package dev.interlock.internal.redis.direct;

import org.jspecify.annotations.NullMarked;
