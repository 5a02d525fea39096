/** Redis refuses for good what sessions ask: a key of another type, a missing right, a client that is shut down. */
@NullMarked
package dev.interlock.refusal;

import org.jspecify.annotations.NullMarked;
