/** Who takes part: each does one thing over and over, and keeps account of it. */
@NullMarked
package dev.interlock.benchmarks.contestants;

import org.jspecify.annotations.NullMarked;
