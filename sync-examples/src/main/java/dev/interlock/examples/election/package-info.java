/** A runnable example of leader election: {@code mvn -q -Pdemo -Dexample=election.Succession}. */
@NullMarked
package dev.interlock.examples.election;

import org.jspecify.annotations.NullMarked;
