/**
 * The seam between the two halves of a lock: what the remote half is asked, what it sees of the local half, and how a
 * thread takes and gives back both.
 */
@NullMarked
package dev.interlock.internal.lock;

import org.jspecify.annotations.NullMarked;
