/**
 * {@code java.util.concurrent} across JVMs: locks, semaphores, latches and barriers that are subclasses of the JDK's own
 * and are shared, through Redis, by every process that names the same one.
 */
@NullMarked
package dev.interlock;

import org.jspecify.annotations.NullMarked;
