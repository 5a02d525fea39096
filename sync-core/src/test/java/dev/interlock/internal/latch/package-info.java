/** The script of count-down latches. */
@NullMarked
package dev.interlock.internal.latch;

import org.jspecify.annotations.NullMarked;
