/** What Spring Boot does by itself when this library is there: it opens a session and shows how it is. */
@NullMarked
package dev.interlock.spring.boot;

import org.jspecify.annotations.NullMarked;
