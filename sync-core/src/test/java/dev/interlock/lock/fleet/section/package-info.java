/** What the threads of a fleet have been through, and the judge of it. */
@NullMarked
package dev.interlock.lock.fleet.section;

import org.jspecify.annotations.NullMarked;
