/** The scripts of the rate limiters, held against models of them. */
@NullMarked
package dev.interlock.internal.ratelimit;

import org.jspecify.annotations.NullMarked;
