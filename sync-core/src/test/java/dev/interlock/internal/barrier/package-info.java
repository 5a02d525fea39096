/** The script of the barrier, and its state. */
@NullMarked
package dev.interlock.internal.barrier;

import org.jspecify.annotations.NullMarked;
