/**
 * What threads hear that wait, call or hold something when Redis is away, refuses or forgets, or their session closes.
 */
@NullMarked
package dev.interlock.faults;

import org.jspecify.annotations.NullMarked;
