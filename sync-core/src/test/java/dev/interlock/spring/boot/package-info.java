/** Tests of what Spring Boot configures. */
@NullMarked
package dev.interlock.spring.boot;

import org.jspecify.annotations.NullMarked;
