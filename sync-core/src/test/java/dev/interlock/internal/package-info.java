/** Tests of what all rooms share. */
@NullMarked
package dev.interlock.internal;

import org.jspecify.annotations.NullMarked;
