/** Runnable example of two JVMs that take turns: {@code mvn -q -Pdemo -Dexample=turns.Race}. */
@NullMarked
package dev.interlock.examples.turns;

import org.jspecify.annotations.NullMarked;
