/** What was measured, and how it is told: results, thresholds, tables and charts. */
@NullMarked
package dev.interlock.benchmarks.report;

import org.jspecify.annotations.NullMarked;
