/** What locks promise, held against the JDK's own. */
@NullMarked
package dev.interlock.lock;

import org.jspecify.annotations.NullMarked;
