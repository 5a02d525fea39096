/** Real servers, real child JVMs and a faulty network between them, for tests, examples and benchmarks. */
@NullMarked
package dev.interlock.testing;

import org.jspecify.annotations.NullMarked;
