/** Rate limiters of several JVMs: what all of them together are admitted, and what keys leave in Redis. */
@NullMarked
package dev.interlock.ratelimit.fleet;

import org.jspecify.annotations.NullMarked;
