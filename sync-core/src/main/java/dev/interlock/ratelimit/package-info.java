/** Rate limiters whose permits are shared by all JVMs that use one Redis. */
@NullMarked
package dev.interlock.ratelimit;

import org.jspecify.annotations.NullMarked;
