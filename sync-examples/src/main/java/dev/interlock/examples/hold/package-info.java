/** A runnable example of holds in asynchronous code: {@code mvn -q -Pdemo -Dexample=hold.Shipping}. */
@NullMarked
package dev.interlock.examples.hold;

import org.jspecify.annotations.NullMarked;
