/** What operators get on their terminals. */
@NullMarked
package dev.interlock.cli;

import org.jspecify.annotations.NullMarked;
