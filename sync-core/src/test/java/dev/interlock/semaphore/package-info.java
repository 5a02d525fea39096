/** The contract of a semaphore, which the JDK's own and every one that extends it keep. */
@NullMarked
package dev.interlock.semaphore;

import org.jspecify.annotations.NullMarked;
