/** The remote halves and what serves them. Not part of the API: no user needs it, and it changes without notice. */
@NullMarked
package dev.interlock.internal;

import org.jspecify.annotations.NullMarked;
