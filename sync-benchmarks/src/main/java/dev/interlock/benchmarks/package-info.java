/** What Interlock costs, measured beside what it is compared with: the Scoreboard, and JMH benchmarks. */
@NullMarked
package dev.interlock.benchmarks;

import org.jspecify.annotations.NullMarked;
