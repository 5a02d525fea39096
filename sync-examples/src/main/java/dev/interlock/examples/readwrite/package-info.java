/** Runnable example of a read-write lock across JVMs: {@code mvn -q -Pdemo -Dexample=readwrite.PriceList}. */
@NullMarked
package dev.interlock.examples.readwrite;

import org.jspecify.annotations.NullMarked;
