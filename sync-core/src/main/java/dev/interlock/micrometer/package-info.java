/**
 * Meters of locks and rate limiters for Micrometer. Needs {@code io.micrometer:micrometer-core}, an optional
 * dependency.
 */
@NullMarked
package dev.interlock.micrometer;

import org.jspecify.annotations.NullMarked;
