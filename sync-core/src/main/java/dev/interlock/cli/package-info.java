/**
 * The command line of operators: what {@link dev.interlock.ops.Operator} sees, as tables for people and as JSON for
 * programs. It is in the executable {@code interlock.jar}; elsewhere it needs picocli and Jackson on the class path.
 */
@NullMarked
package dev.interlock.cli;

import org.jspecify.annotations.NullMarked;
