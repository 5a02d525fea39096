/**
 * A fleet of one service with Spring Boot, whose instances lock, limit and schedule together by annotations: {@code mvn
 * -q -Pdemo -Dexample=spring.Orders}.
 */
@NullMarked
package dev.interlock.examples.spring;

import org.jspecify.annotations.NullMarked;
