/** What the API says to bad input, and what stays behind then: nothing. */
@NullMarked
package dev.interlock.input;

import org.jspecify.annotations.NullMarked;
