/** What the scripts of the lock do for those who only read. */
@NullMarked
package dev.interlock.internal.lock.script.readwrite;

import org.jspecify.annotations.NullMarked;
