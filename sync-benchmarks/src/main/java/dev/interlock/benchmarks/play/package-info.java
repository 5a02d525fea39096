/** How scenarios are played: rounds in this JVM or in several, what is counted in them, and whether it was right. */
@NullMarked
package dev.interlock.benchmarks.play;

import org.jspecify.annotations.NullMarked;
