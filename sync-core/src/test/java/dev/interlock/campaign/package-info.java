/** All synchronizers at once, under all faults at once, and the judge of what comes of it. */
@NullMarked
package dev.interlock.campaign;

import org.jspecify.annotations.NullMarked;
