/** What was measured, and what was asked for. */
@NullMarked
package dev.interlock.benchmarks.report;

import org.jspecify.annotations.NullMarked;
