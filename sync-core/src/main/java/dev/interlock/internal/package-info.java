/** How names and types are shown to people. The packages below are how it is done; no user needs anything from here. */
@NullMarked
package dev.interlock.internal;

import org.jspecify.annotations.NullMarked;
