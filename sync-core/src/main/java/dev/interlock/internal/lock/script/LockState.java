package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.FencingTokens;
import dev.interlock.internal.lock.RemoteLock;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows of one name: its {@link TicketQueue}, its {@link LockTenure} while it owns the name, and what it
 * has given up. A plain lock has tickets or a tenure, never both; tickets of a fair lock that are served on its tenure
 * remain until they are.
 *
 * <p>Sends nothing and wakes nobody. The owner calls it with the mutex held, except for what is volatile.
 */
final class LockState {
    final boolean fair;
    final TicketQueue tickets = new TicketQueue();

    private final long leaseMillis;
    private volatile @Nullable LockTenure tenure;
    private volatile long heardNanos;

    /**
     * Remote part of the greatest fencing token that Redis has told. It goes into Redis as the floor of all sessions'
     * tokens, so it is learned from replies only: anybody may write messages.
     */
    private volatile long lastToken;

    /** The sequence of the last tenure that was given up; its release may be on its way. */
    private long ended;

    /** When its turn began. */
    long endedTurnNanos;

    /** Before that, plain RLock clients have their turn. */
    long notBeforeNanos;

    /** Whether the session is closed. */
    boolean closed;

    /** What no repetition will mend, until a thread has been told. */
    @Nullable
    Throwable refusal;

    /**
     * A sequence that this session owns and didn't give to itself: it belongs to a waiter of a condition, and the
     * message that tells which is on its way, unless it is lost.
     */
    private long unannounced;

    private long unannouncedNanos;

    /** The last sequence that was given back although its message may yet come. */
    long renounced;

    /** The sequence whose grant is being taken note of, or 0. */
    long arrivingGrant;

    LockState(boolean fair, long leaseMillis, long nowNanos) {
        this.fair = fair;
        this.leaseMillis = leaseMillis;
        this.notBeforeNanos = nowNanos;
    }

    @Nullable
    LockTenure tenure() {
        return tenure;
    }

    /** Returns whether the session owns the name by that sequence. */
    boolean isTenure(long sequence) {
        LockTenure current = tenure;
        return current != null && current.sequence == sequence;
    }

    /** Returns the oldest ticket. */
    @Nullable
    Ticket ticket() {
        return tickets.first();
    }

    /** Returns a ticket that was not sent. */
    Ticket newTicket(long lease, boolean queues, boolean reads, long now) {
        return new Ticket(wantedMillis(lease), lease == RemoteLock.RENEWED, queues, reads, now);
    }

    /** Returns the length of a lease. */
    long wantedMillis(long lease) {
        return lease == RemoteLock.RENEWED ? leaseMillis : lease;
    }

    // ---- tenures

    void begin(LockTenure next) {
        tenure = next;
    }

    void end(LockTenure current) {
        current.end();
        ended = current.sequence;
        endedTurnNanos = current.turnNanos;
        tenure = null;
        Ticket unserved = tickets.of(current.sequence);
        if (unserved != null) {
            // What is released must not be asked for again.
            tickets.renew(unserved);
        }
    }

    /** Returns whether the next thread in line may enter on that tenure. */
    boolean serves(LockTenure current) {
        if (!fair) {
            return true;
        }
        Ticket next = tickets.first();
        return next != null
                && next.sequence != 0
                && (next.sequence == current.sequence || next.sequence <= current.run);
    }

    /** Returns whether a sequence is the tenure's, the last tenure's or a ticket's. */
    boolean isKnown(long sequence) {
        return isTenure(sequence) || sequence == ended || tickets.of(sequence) != null;
    }

    /** Returns whether there is a message to come, within that time, that tells whose sequence this is. */
    boolean mayBeAnnounced(long sequence, long now, long nanos) {
        if (sequence != unannounced) {
            unannounced = sequence;
            unannouncedNanos = now;
            return true;
        }
        return now - unannouncedNanos < nanos;
    }

    // ---- what Redis has told

    /** Redis has answered. */
    void heard(long now) {
        heardNanos = now;
    }

    /** Returns whether Redis has answered about this name since then. */
    boolean hasHeardSince(long nanos) {
        return heardNanos - nanos > 0;
    }

    /** Returns the least remote part of the next fencing token. */
    long floor() {
        return lastToken + 1;
    }

    /** A reply has told of a token. */
    void learnToken(long token) {
        if (token < FencingTokens.REMOTE_LIMIT) {
            lastToken = Math.max(lastToken, token);
        }
    }

    /** Returns whether a token is greater than all before, and fits. */
    boolean isNewToken(long token) {
        return token > lastToken && token < FencingTokens.REMOTE_LIMIT;
    }
}
