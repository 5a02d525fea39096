/** What must hold when a master dies and a replica takes its place, or when replicas are slow. */
@NullMarked
package dev.interlock.topology;

import org.jspecify.annotations.NullMarked;
