/** The script of count-down latches, and their state. */
@NullMarked
package dev.interlock.internal.latch;

import org.jspecify.annotations.NullMarked;
