/** The remote half of locks over Redisson's own lock objects. */
@NullMarked
package dev.interlock.internal.lock.redisson;

import org.jspecify.annotations.NullMarked;
