/**
 * {@code java.util.concurrent} across JVMs: drop-in synchronizers whose waiting is done by their JDK superclass and
 * whose ownership is decided in Redis. {@link dev.interlock.Interlock} is where to start.
 */
@NullMarked
package dev.interlock;

import org.jspecify.annotations.NullMarked;
