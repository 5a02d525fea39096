/** The scripts of quorum locks. */
@NullMarked
package dev.interlock.internal.quorum;

import org.jspecify.annotations.NullMarked;
