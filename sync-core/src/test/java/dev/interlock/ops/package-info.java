/** What operators see. */
@NullMarked
package dev.interlock.ops;

import org.jspecify.annotations.NullMarked;
