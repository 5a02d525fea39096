package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The interval in which a session owns a name. It is valid until a local time that lies safely before the end of its lease
 * in Redis; once it has been seen to be lost, it stays lost.
 */
final class Tenure {
    /** Bits of a fencing token that count the acquisitions of one tenure. */
    private static final int LOCAL_BITS = 14;

    final Ticket ticket;
    final long sequence;
    final long leaseMillis;
    final boolean renewed;
    final long startNanos;

    /** The last of the session's tickets that are served on this tenure. Guarded by the mutex of the claim, read by others. */
    volatile long run;

    /** Whether it is kept although nobody of this session wants it at the moment. */
    volatile boolean retained;

    /** When that was last so. */
    volatile long idleSinceNanos;

    /** Guarded by the mutex of the claim, read by whoever enters. */
    volatile long validUntilNanos;

    /** Whether another session, or a plain RLock client, waits. */
    volatile boolean demand;

    volatile boolean foreignDemand;

    private final AtomicReference<@Nullable LeaseLostException> loss = new AtomicReference<>();

    /** Guarded by the local half. */
    private long token;

    private final long lastToken;

    /** When to look for demand again; guarded by the local half. */
    long lookAtNanos;

    /** Guarded by the mutex of the claim. */
    long renewAtNanos;

    long renewalSentNanos;
    boolean renewing;

    Tenure(Ticket ticket, long remoteToken, long nowNanos, long validUntilNanos) {
        this.ticket = ticket;
        this.run = ticket.sequence;
        this.sequence = ticket.sequence;
        this.leaseMillis = ticket.leaseMillis;
        this.renewed = ticket.renewed;
        this.startNanos = nowNanos;
        this.lookAtNanos = nowNanos;
        this.validUntilNanos = validUntilNanos;
        this.token = remoteToken << LOCAL_BITS;
        this.lastToken = token + (1L << LOCAL_BITS) - 1;
    }

    boolean isUsable(long nowNanos) {
        return nowNanos - validUntilNanos < 0 && loss.get() == null;
    }

    /** Draws the token of the next acquisition, or returns false if this tenure has none left. */
    boolean drawToken() {
        if (token == lastToken) {
            return false;
        }
        token++;
        return true;
    }

    /** Leaves no tokens: whoever enters has to continue this tenure by another one first. */
    void exhaust() {
        token = lastToken;
    }

    long token() {
        return token;
    }

    void extend(long untilNanos) {
        if (untilNanos - validUntilNanos > 0) {
            validUntilNanos = untilNanos;
        }
    }

    /** Marks it lost. Returns the loss if one was known before. */
    @Nullable
    LeaseLostException lose(LeaseLostException news) {
        return loss.compareAndExchange(null, news);
    }

    @Nullable
    LeaseLostException loss() {
        return loss.get();
    }
}
