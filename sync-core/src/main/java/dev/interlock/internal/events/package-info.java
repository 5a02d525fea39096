/** The events of this library in recordings of the JDK's Flight Recorder. */
@NullMarked
package dev.interlock.internal.events;

import org.jspecify.annotations.NullMarked;
