/** The remote halves of locks: over our own scripts, and over Redisson's lock objects. */
@NullMarked
package dev.interlock.internal.lock;

import org.jspecify.annotations.NullMarked;
