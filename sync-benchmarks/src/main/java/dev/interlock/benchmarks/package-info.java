/** What Interlock costs, measured beside what it is compared with: the programs that one starts. */
@NullMarked
package dev.interlock.benchmarks;

import org.jspecify.annotations.NullMarked;
