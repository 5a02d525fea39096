/**
 * Runnable examples: {@code mvn -q -Pdemo} at the root runs {@link dev.interlock.examples.FlashSale}, and {@code mvn -q
 * -Pdemo -Dexample=Migration} another one: {@link dev.interlock.examples.Migration},
 * {@link dev.interlock.examples.TicketQueue}, {@link dev.interlock.examples.HotShards}, or one of
 * {@link dev.interlock.examples.conditions}, such as {@code conditions.WorkQueue}.
 */
@NullMarked
package dev.interlock.examples;

import org.jspecify.annotations.NullMarked;
