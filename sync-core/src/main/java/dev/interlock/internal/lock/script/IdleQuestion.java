package dev.interlock.internal.lock.script;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What has become of an untimed {@code tryLock()}: a part of the state of a lock. A session may own a name although
 * none of its threads is inside; so when a request is refused, its owners are asked. It is refused for good if one of
 * them answers that a thread is inside, if they are silent for too long, or if somebody else waits. If one has given
 * the name up, the request is repeated, and also after a while without an answer, since messages may get lost.
 */
final class IdleQuestion {
    private static final long REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private enum Stage {
        /** The request has been sent, or is to be. */
        SENT,
        /** It was refused, and its owners were asked. */
        ASKED,
        /** One of them has given the name up. */
        GIVEN_UP,
        REFUSED
    }

    private final Attempt attempt;

    /** Its last request. */
    private @Nullable Ticket request;

    private Stage stage = Stage.GIVEN_UP;
    private long deadlineNanos;
    private long repeatAtNanos;

    /** The sequence of the request that the owners were asked about. */
    private long asked;

    /** The last answer, which may come before the reply to the request. */
    private long answered;

    private boolean isInside;

    /**
     * An attempt has begun at this time.
     *
     * @param commandTimeoutMillis after so long without a reply a thread gives up by itself
     */
    IdleQuestion(Attempt attempt, long begunNanos, long commandTimeoutMillis) {
        this.attempt = attempt;
        this.deadlineNanos = begunNanos + TimeUnit.MILLISECONDS.toNanos(commandTimeoutMillis) / 4 * 3;
    }

    /** The attempt sends a request: its first one, or another one. */
    void sent(Ticket ticket) {
        request = ticket;
        stage = Stage.SENT;
    }

    /** Returns whether this is about that attempt, not about one that is equal to it. */
    @SuppressWarnings("ReferenceEquality")
    boolean isOf(Attempt other) {
        return attempt == other;
    }

    /** A request was refused, which had this sequence. */
    void refused(Ticket sent, long sequence, boolean isAsked, long now) {
        if (sent != request || stage != Stage.SENT) {
            return;
        }
        repeatAtNanos = now + REPEAT_NANOS;
        deadlineNanos = Math.min(deadlineNanos - now, PATIENCE_NANOS) + now;
        asked = sequence;
        stage = isAsked ? Stage.ASKED : Stage.REFUSED;
        if (isAsked && answered == sequence) {
            answered(sequence, isInside);
        }
    }

    /** An owner has answered the request of this sequence. */
    void answered(long sequence, boolean inside) {
        answered = sequence;
        isInside = inside;
        if (stage == Stage.ASKED && asked == sequence) {
            stage = inside ? Stage.REFUSED : Stage.GIVEN_UP;
        }
    }

    /** Returns whether answers are waited for, or there was one that the attempt has yet to see. */
    boolean isOpen() {
        return stage == Stage.ASKED || stage == Stage.GIVEN_UP;
    }

    /** Returns whether the attempt is refused for good. */
    boolean isRefused(long now) {
        return stage == Stage.REFUSED || now - deadlineNanos >= 0;
    }

    /** Returns whether that is because the owners are silent. */
    boolean isSilent() {
        return stage == Stage.ASKED;
    }

    /** Returns for how long the attempt waits for an answer before it sends another request. */
    long untilDue(long now) {
        return stage == Stage.ASKED ? Math.min(repeatAtNanos - now, deadlineNanos - now) : 0;
    }
}
