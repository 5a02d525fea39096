/** How measurements are told: the pages, their tables and charts, and what other pages quote. */
@NullMarked
package dev.interlock.benchmarks.pages;

import org.jspecify.annotations.NullMarked;
