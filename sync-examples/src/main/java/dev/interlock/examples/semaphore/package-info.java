/** Runnable example of a semaphore across JVMs: {@code mvn -q -Pdemo -Dexample=semaphore.ConnectionBudget}. */
@NullMarked
package dev.interlock.examples.semaphore;

import org.jspecify.annotations.NullMarked;
