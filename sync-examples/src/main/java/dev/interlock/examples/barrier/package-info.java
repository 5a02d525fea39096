/** Runnable example of a barrier across JVMs: {@code mvn -q -Pdemo -Dexample=barrier.HeatedRod}. */
@NullMarked
package dev.interlock.examples.barrier;

import org.jspecify.annotations.NullMarked;
