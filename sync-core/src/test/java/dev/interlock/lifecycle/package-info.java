/** How sessions open and close, and what they say of that. */
@NullMarked
package dev.interlock.lifecycle;

import org.jspecify.annotations.NullMarked;
