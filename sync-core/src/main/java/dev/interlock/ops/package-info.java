/** Operators see which threads of a fleet hold a name, and which ones wait for it. */
@NullMarked
package dev.interlock.ops;

import org.jspecify.annotations.NullMarked;
