/** Leader election: one candidate of a fleet leads at a time. Start at {@link dev.interlock.Interlock#election}. */
@NullMarked
package dev.interlock.election;

import org.jspecify.annotations.NullMarked;
