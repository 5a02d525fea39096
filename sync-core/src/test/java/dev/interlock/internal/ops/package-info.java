/** Tests of what sessions tell each other on behalf of operators. */
@NullMarked
package dev.interlock.internal.ops;

import org.jspecify.annotations.NullMarked;
