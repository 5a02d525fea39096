/** Barriers: the contract, and what it comes to over several JVMs and faulty networks. */
@NullMarked
package dev.interlock.barrier;

import org.jspecify.annotations.NullMarked;
