/**
 * A page that shows live who holds and who waits for what, {@code operations.html} of the web service, and JVMs that
 * give it something to show: {@code mvn -q -Pdemo -Dexample=operations.Warehouse}.
 */
@NullMarked
package dev.interlock.examples.operations;

import org.jspecify.annotations.NullMarked;
