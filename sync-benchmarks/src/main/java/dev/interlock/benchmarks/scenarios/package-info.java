/** The situations in which contestants are compared, and how long each is played. */
@NullMarked
package dev.interlock.benchmarks.scenarios;

import org.jspecify.annotations.NullMarked;
