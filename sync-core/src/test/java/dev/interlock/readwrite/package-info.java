/** The contract of a read-write lock, which the JDK's own and every one that extends it keep. */
@NullMarked
package dev.interlock.readwrite;

import org.jspecify.annotations.NullMarked;
