/** How sessions ask each other what they have, and answer. */
@NullMarked
package dev.interlock.internal.ops;

import org.jspecify.annotations.NullMarked;
