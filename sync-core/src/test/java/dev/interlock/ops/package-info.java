/** Tests of what operators see and do. */
@NullMarked
package dev.interlock.ops;

import org.jspecify.annotations.NullMarked;
