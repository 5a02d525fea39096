/**
 * Conditions across JVMs: programs that use them, crowds that wait on them, and what the death of a JVM makes of both.
 */
@NullMarked
package dev.interlock.lock.condition;

import org.jspecify.annotations.NullMarked;
