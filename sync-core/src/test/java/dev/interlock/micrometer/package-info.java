@NullMarked
package dev.interlock.micrometer;

import org.jspecify.annotations.NullMarked;
