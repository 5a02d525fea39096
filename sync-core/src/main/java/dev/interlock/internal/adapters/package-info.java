/** The remote halves of synchronizers over Redisson's own objects. */
@NullMarked
package dev.interlock.internal.adapters;

import org.jspecify.annotations.NullMarked;
