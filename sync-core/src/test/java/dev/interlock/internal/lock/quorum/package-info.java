/** The scripts of quorum locks, and their state. */
@NullMarked
package dev.interlock.internal.lock.quorum;

import org.jspecify.annotations.NullMarked;
