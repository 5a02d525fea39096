/** JMH benchmarks of Interlock and of what it is measured against. */
@NullMarked
package dev.interlock.benchmarks;

import org.jspecify.annotations.NullMarked;
