/** The lock's scripts and engine, held against models. */
@NullMarked
package dev.interlock.internal.lock.script;

import org.jspecify.annotations.NullMarked;
