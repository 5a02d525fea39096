/** The remote half of barriers. */
@NullMarked
package dev.interlock.internal.barrier;

import org.jspecify.annotations.NullMarked;
