/** Tests of leader election. */
@NullMarked
package dev.interlock.election;

import org.jspecify.annotations.NullMarked;
