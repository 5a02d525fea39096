/** The way to a Redis: scripts out, replies and messages in, and what is known of its outages. */
@NullMarked
package dev.interlock.internal.redis;

import org.jspecify.annotations.NullMarked;
