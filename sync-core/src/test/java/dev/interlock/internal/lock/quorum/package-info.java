/** The scripts of quorum locks. */
@NullMarked
package dev.interlock.internal.lock.quorum;

import org.jspecify.annotations.NullMarked;
