/** Locks over our own scripts: one queue in Redis per name, grants that are pushed, conditions. */
@NullMarked
package dev.interlock.internal.lock.script;

import org.jspecify.annotations.NullMarked;
