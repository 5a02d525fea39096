/** Semaphores: the local half, which threads wait in, and the remote half, which the permits come from. */
@NullMarked
package dev.interlock.internal.semaphore;

import org.jspecify.annotations.NullMarked;
