package dev.interlock.internal.session;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Commands about one thing, one in flight at a time. What comes up meanwhile goes with the next one.
 *
 * <p>A command that gets no answer is repeated: the first time after a second, since its connection may have gone mute
 * and Redis takes a session to be dead that it doesn't hear of; then after as long as anybody waits for an answer,
 * which also counts as an outage. One that fails by what may pass is repeated a moment later. What lasts is told to the
 * {@link Speaker}. The session's pulse drives the repeats, by {@link #beat}.
 *
 * <p>A loop is part of a {@link Resource}, and is called in the events of that. Replies and retries are events, too; a
 * command is sent when the event is over.
 *
 * @param <R> what a reply brings
 */
public final class CommandLoop<R> {
    /** Makes the commands and takes the answers. Called in events of the resource; must not block. */
    public interface Speaker<R> {
        /**
         * Makes a command that says all that there is to say by now. The result sends it.
         *
         * @param nowNanos what {@link #answered} will say of its sending
         * @return null if there is nothing to say
         */
        @Nullable
        Supplier<CompletableFuture<R>> say(long nowNanos);

        /** Takes the answer to a command, which needn't be the latest. */
        void answered(long sentNanos, R answer);

        /**
         * Takes what no repeat will mend. Returns whether that has ended a wait, whose thread throws it; else it is
         * logged.
         */
        boolean refused(Throwable cause);

        /** The latest command has failed by what may pass, and will be repeated. */
        default void failed(Throwable cause) {}

        /**
         * Returns how long a command waits in Redis before its answer is due. One that waits and doesn't answer when
         * that time is over counts as an outage only if the next one doesn't either: Redisson drops the answer to a
         * wait that ends at the moment when its message arrives.
         */
        default long dueNanos() {
            return 0;
        }

        /** Returns whether a failure may pass. */
        default boolean isTransient(Throwable failure) {
            return Failures.isTransient(failure);
        }
    }

    /** The first repeat of a command that gets no answer. */
    private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The repeat of a command that failed. */
    private static final long RETRY_MILLIS = 200;

    private final Session session;
    private final Resource<?> resource;
    private final Speaker<R> speaker;

    /** Whether there is something to say that the command in flight doesn't. */
    private boolean pending;

    private boolean inFlight;

    /** The number of the last command. */
    private int attempt;

    private long sentNanos;

    /** If a command is in flight: when the silence began, or was last counted as an outage. */
    private long silentSinceNanos;

    /** If a command is in flight: whether it is a repeat. */
    private boolean repeated;

    /** Whether a timer runs that repeats a command that failed. There is one at a time, however many fail. */
    private boolean retrying;

    /** Creates a loop in which nothing was said yet. */
    public CommandLoop(Session session, Resource<?> resource, Speaker<R> speaker) {
        this.session = session;
        this.resource = resource;
        this.speaker = speaker;
        this.sentNanos = session.now();
    }

    /** There is something to say: sends now, or as soon as the command in flight has been answered. */
    public void tell() {
        pending = true;
        if (!inFlight) {
            send(session.now());
        }
    }

    /** There is something to say, but not before the next beat. */
    public void tellLater() {
        pending = true;
    }

    /**
     * Repeats a command that has been silent; if none is in flight, sends what there is to say.
     *
     * @param wants whether to send one in any case, because threads wait
     */
    public void beat(boolean wants) {
        long now = session.now();
        if (inFlight ? isSilent(now) : pending || wants) {
            send(now);
        }
    }

    /** Sends now, whether or not a command is in flight. */
    public void send(long now) {
        int number = begin(now);
        Supplier<CompletableFuture<R>> command = speaker.say(now);
        if (command == null) {
            inFlight &= number != attempt;
        } else {
            resource.later(
                    () -> command.get().whenComplete((answer, failure) -> received(number, now, answer, failure)));
        }
    }

    /** A command is about to be sent by somebody else, who calls {@link #received} with this number. */
    public int begin(long now) {
        resource.assertHeld();
        boolean counts = repeated || speaker.dueNanos() == 0;
        repeated = inFlight && (repeated || isSilent(now));
        if (!inFlight) {
            silentSinceNanos = now;
        } else if (counts
                && now - silentSinceNanos
                        >= speaker.dueNanos() + session.settings().silenceNanos()) {
            session.outage().failed(silentSinceNanos, new RedisUnavailableException("no answer", null));
            silentSinceNanos = now;
        }
        inFlight = true;
        pending = false;
        sentNanos = now;
        return ++attempt;
    }

    /** Nobody wants the answer to the command in flight any more: the next one may be sent. */
    public void forget() {
        inFlight = false;
        attempt++;
    }

    /** Takes the answer to a command, or its failure. */
    public void received(int number, long sentAtNanos, @Nullable R answer, @Nullable Throwable failure) {
        resource.run((state, now) -> {
            boolean isLatest = number == attempt;
            inFlight &= !isLatest;
            if (answer != null) {
                speaker.answered(sentAtNanos, answer);
                if (pending && !inFlight) {
                    send(now);
                }
            } else if (failure != null && !speaker.isTransient(failure)) {
                refused(Failures.cause(failure));
            } else if (isLatest) {
                pending = true;
                retryLater();
                speaker.failed(failure == null ? new IllegalStateException("no reply") : Failures.cause(failure));
            }
        });
    }

    private void refused(Throwable cause) {
        pending = false;
        if (!speaker.refused(cause)) {
            resource.refused(cause);
        }
    }

    private void retryLater() {
        if (!retrying) {
            retrying = true;
            session.schedule(this::retry, RETRY_MILLIS);
        }
    }

    private void retry() {
        resource.run((state, now) -> {
            retrying = false;
            beat(false);
        });
    }

    /** Returns whether a command is in flight. */
    public boolean isInFlight() {
        return inFlight;
    }

    /** Returns whether a command is in flight, or there is something to say. */
    public boolean isBusy() {
        return inFlight || pending;
    }

    /** Returns when the last command was sent; at first, when this was created. */
    public long sentNanos() {
        return sentNanos;
    }

    /** Returns whether there has been no answer for so long that the command is to be repeated. */
    public boolean isSilent(long now) {
        return inFlight && now - repeatAtNanos() >= 0;
    }

    /** Returns when the command in flight is to be repeated. */
    public long repeatAtNanos() {
        long silenceNanos = session.settings().silenceNanos();
        long firstNanos = Math.min(REPEAT_NANOS, silenceNanos);
        return speaker.dueNanos()
                + Lease.later(silentSinceNanos + (repeated ? silenceNanos : firstNanos), sentNanos + firstNanos);
    }
}
