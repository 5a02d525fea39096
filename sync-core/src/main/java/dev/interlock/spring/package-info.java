/**
 * For applications with Spring: methods that run under a lock, at a limited rate or once in a fleet, by their
 * annotations, and adapters to what other projects for Spring call a lock. Spring Boot configures all of it.
 */
@NullMarked
package dev.interlock.spring;

import org.jspecify.annotations.NullMarked;
