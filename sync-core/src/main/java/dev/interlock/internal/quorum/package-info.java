/** The remote half over several independent servers, of which a majority decides. */
@NullMarked
package dev.interlock.internal.quorum;

import org.jspecify.annotations.NullMarked;
