/** Tests of what annotations and adapters do in an application with Spring. */
@NullMarked
package dev.interlock.spring;

import org.jspecify.annotations.NullMarked;
