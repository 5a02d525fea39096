/** Runnable example of rate limiters in a web service: {@code mvn -q -Pdemo -Dexample=ratelimit.WebService}. */
@NullMarked
package dev.interlock.examples.ratelimit;

import org.jspecify.annotations.NullMarked;
