/** What the script of the semaphore does. */
@NullMarked
package dev.interlock.internal.semaphore;

import org.jspecify.annotations.NullMarked;
