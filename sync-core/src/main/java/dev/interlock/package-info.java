/**
 * {@code java.util.concurrent} across JVMs: drop-in synchronizers whose threads wait in their JDK superclass and whose
 * ownership Redis decides. Start at {@link dev.interlock.Interlock}.
 */
@NullMarked
package dev.interlock;

import org.jspecify.annotations.NullMarked;
