/**
 * The JMH suite: a class per synchronizer, over what {@link dev.interlock.benchmarks.jmh.Arena} sets up. The Scoreboard
 * compares what takes several JVMs, clocks and ledgers to compare; this is for measuring one thing, with JMH's modes,
 * parameters and profilers.
 */
@NullMarked
package dev.interlock.benchmarks.jmh;

import org.jspecify.annotations.NullMarked;
