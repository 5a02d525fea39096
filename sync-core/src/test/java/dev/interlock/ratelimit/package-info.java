/** What users see of rate limiters. */
@NullMarked
package dev.interlock.ratelimit;

import org.jspecify.annotations.NullMarked;
