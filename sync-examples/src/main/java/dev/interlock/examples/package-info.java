/**
 * Runnable examples: {@code mvn -q -Pdemo} at the root runs {@link dev.interlock.examples.FlashSale}, and
 * {@code mvn -q -Pdemo -Dexample=Migration} another one: {@link dev.interlock.examples.Migration},
 * {@link dev.interlock.examples.TicketQueue} or {@link dev.interlock.examples.HotShards}.
 */
@NullMarked
package dev.interlock.examples;

import org.jspecify.annotations.NullMarked;
