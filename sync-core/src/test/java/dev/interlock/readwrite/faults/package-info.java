/** Read-write locks when answers, messages, connections and data get lost. */
@NullMarked
package dev.interlock.readwrite.faults;

import org.jspecify.annotations.NullMarked;
