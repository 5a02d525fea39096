/** The contract of count-down latches, on the JDK's class first. */
@NullMarked
package dev.interlock.latch;

import org.jspecify.annotations.NullMarked;
