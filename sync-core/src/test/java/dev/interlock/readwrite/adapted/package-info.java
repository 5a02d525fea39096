/** What an adapted read-write lock does beside Redisson, and what it leaves behind. */
@NullMarked
package dev.interlock.readwrite.adapted;

import org.jspecify.annotations.NullMarked;
