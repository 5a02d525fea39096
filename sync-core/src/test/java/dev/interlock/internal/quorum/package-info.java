/** The scripts of quorum locks, and their state. */
@NullMarked
package dev.interlock.internal.quorum;

import org.jspecify.annotations.NullMarked;
