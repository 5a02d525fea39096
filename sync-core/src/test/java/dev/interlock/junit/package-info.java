/** For tests of code that uses Interlock: sessions on a real Redis, and faults that one can't wait for. */
@NullMarked
package dev.interlock.junit;

import org.jspecify.annotations.NullMarked;
