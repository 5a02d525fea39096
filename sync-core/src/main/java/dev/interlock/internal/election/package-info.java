/** Leader election, over holds. */
@NullMarked
package dev.interlock.internal.election;

import org.jspecify.annotations.NullMarked;
