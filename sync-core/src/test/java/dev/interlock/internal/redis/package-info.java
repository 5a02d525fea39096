/** The way to a Redis. */
@NullMarked
package dev.interlock.internal.redis;

import org.jspecify.annotations.NullMarked;
