/** Locks over several independent Redis servers, of which a majority decides. */
@NullMarked
package dev.interlock.quorum;

import org.jspecify.annotations.NullMarked;
