package dev.interlock.internal.lock.script;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A waiter of a condition.
 *
 * @param number by which its session knows it
 */
public record Waiting(Contender by, String condition, long position, long number) {
    /** The waiter as its session writes it. */
    String text() {
        return String.format("%s:%025d:%d:%d", condition, position, number, Contender.LEASE);
    }

    /** What stands in the set of those who wait. */
    public String member() {
        return String.format("%s:%025d:%s:%d:%d", condition, position, by.id, number, Contender.LEASE);
    }

    /** What stands in the queue once it has left. */
    public String ticket(long sequence) {
        return by.ticket(sequence) + ":" + number;
    }

    /** The operation that has it wait. */
    public String plain() {
        return "w" + text();
    }

    /** The same if each thread of its session has a ticket. */
    public String fair() {
        return "f" + text();
    }

    /** Has it wait, by a tenure that does nothing else. */
    public Waiting begin(long sequence) {
        by.own(sequence);
        assertThat(by.releaseAfter(sequence, plain())).isEqualTo(Contender.TENURE);
        return this;
    }
}
