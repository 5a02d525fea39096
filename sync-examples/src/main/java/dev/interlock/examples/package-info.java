/** Runnable examples. */
@NullMarked
package dev.interlock.examples;

import org.jspecify.annotations.NullMarked;
