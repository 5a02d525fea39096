/** The remote half of locks over our own scripts: sessions, or threads, stand in a queue in Redis. */
@NullMarked
package dev.interlock.internal.queue;

import org.jspecify.annotations.NullMarked;
