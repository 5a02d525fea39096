package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.script.LockState.Attempt;
import dev.interlock.internal.lock.script.TicketQueue.Ticket;
import dev.interlock.internal.redis.Mail;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What has become of an untimed {@code tryLock()}: a part of the {@link LockState}. A session may own a name although
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

    /** After so long without a reply a thread gives up by itself. */
    private final long commandTimeoutNanos;

    private @Nullable Attempt attempt;

    /** Its last request. */
    private @Nullable Ticket request;

    private Stage stage = Stage.REFUSED;
    private long deadlineNanos;
    private long repeatAtNanos;

    IdleQuestion(long commandTimeoutMillis) {
        this.commandTimeoutNanos = TimeUnit.MILLISECONDS.toNanos(commandTimeoutMillis);
    }

    /** An attempt sends a request: its first one, or another one. */
    void begin(Attempt by, Ticket ticket) {
        if (!isOf(by)) {
            attempt = by;
            deadlineNanos = by.begunNanos() + commandTimeoutNanos / 4 * 3;
        }
        request = ticket;
        stage = Stage.SENT;
    }

    /** Returns whether this is about that attempt, not about one that is equal to it. */
    @SuppressWarnings("ReferenceEquality")
    boolean isOf(Attempt other) {
        return attempt == other;
    }

    /** A request was refused. */
    void refused(Ticket ticket, boolean isAsked, long now) {
        if (ticket == request && stage == Stage.SENT) {
            stage = isAsked ? Stage.ASKED : Stage.REFUSED;
            repeatAtNanos = now + REPEAT_NANOS;
            deadlineNanos = Math.min(deadlineNanos - now, PATIENCE_NANOS) + now;
        }
    }

    /** An owner has answered. */
    void answered(Mail.IdleAnswer answer) {
        Ticket asked = request;
        boolean isExpected = asked != null && asked.sequence == answer.request() && stage != Stage.REFUSED;
        if (isExpected) {
            stage = answer.isInside() ? Stage.REFUSED : Stage.GIVEN_UP;
        }
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
