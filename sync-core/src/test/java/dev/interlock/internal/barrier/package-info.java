/** The script of the barrier. */
@NullMarked
package dev.interlock.internal.barrier;

import org.jspecify.annotations.NullMarked;
