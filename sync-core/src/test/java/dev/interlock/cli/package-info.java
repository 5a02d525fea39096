/** Tests of the command line of operators. */
@NullMarked
package dev.interlock.cli;

import org.jspecify.annotations.NullMarked;
