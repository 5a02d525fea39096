/** Servers that contestants need, and where they are. */
@NullMarked
package dev.interlock.benchmarks.servers;

import org.jspecify.annotations.NullMarked;
