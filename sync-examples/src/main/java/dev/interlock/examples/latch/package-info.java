/** A runnable example of count-down latches across JVMs: {@code mvn -q -Pdemo -Dexample=latch.Batch}. */
@NullMarked
package dev.interlock.examples.latch;

import org.jspecify.annotations.NullMarked;
