/** Tests of holds, which no thread owns. */
@NullMarked
package dev.interlock.hold;

import org.jspecify.annotations.NullMarked;
