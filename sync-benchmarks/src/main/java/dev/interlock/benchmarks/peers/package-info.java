/** Locks and limiters of others, each through its ordinary API. */
@NullMarked
package dev.interlock.benchmarks.peers;

import org.jspecify.annotations.NullMarked;
