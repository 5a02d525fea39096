/** Fair locks and retained ones: their order over many JVMs, and what faults make of it. */
@NullMarked
package dev.interlock.lock.fair;

import org.jspecify.annotations.NullMarked;
