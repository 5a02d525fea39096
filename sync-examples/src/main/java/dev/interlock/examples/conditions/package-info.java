/**
 * Runnable examples of conditions across JVMs: {@code mvn -q -Pdemo -Dexample=conditions.BoundedBuffer} and {@code mvn
 * -q -Pdemo -Dexample=conditions.WorkQueue}.
 */
@NullMarked
package dev.interlock.examples.conditions;

import org.jspecify.annotations.NullMarked;
