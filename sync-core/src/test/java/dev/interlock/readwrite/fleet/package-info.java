/** Read-write locks of several JVMs: histories of many threads, and JVMs that die or are stopped. */
@NullMarked
package dev.interlock.readwrite.fleet;

import org.jspecify.annotations.NullMarked;
