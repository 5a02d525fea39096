package dev.interlock.internal.session;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A command that has to get through, as a release has: it is repeated until Redis has confirmed it, or the lease that
 * it ends is over anyway. After the session is closed it isn't repeated.
 *
 * <p>It belongs to a {@link Resource}, in whose events its state changes; it is confirmed when those are over.
 *
 * @param <R> what the confirmation brings
 */
public final class ReliableCommand<R> implements CommandLoop.Speaker<R> {
    /** Sends the command. */
    public interface Attempt<R> {
        /** Sends it. The first attempt may take the way that costs least. */
        CompletableFuture<R> send(boolean isFirst);
    }

    /** The longest pause after a refusal is this part of the lease. */
    private static final int PAUSES_IN_LEASE = 6;

    private final Session session;
    private final Resource<?> resource;
    private final long number;
    private final Attempt<R> attempt;
    private final Predicate<Throwable> isFinal;
    private final long begunNanos;
    private final long leaseNanos;
    private final CompletableFuture<R> confirmed = new CompletableFuture<>();

    // The rest is used in events only.

    private final CommandLoop<R> loop;
    private boolean isSent;

    /** Before that it isn't repeated. */
    private long notBeforeNanos;

    /** Whether it is repeated also if there is no answer at all. */
    private boolean isInsisted;

    /** Whether it is confirmed, or given up. */
    private boolean isOver;

    /** What the last attempt has failed by. */
    private @Nullable Throwable lastFailure;

    private ReliableCommand(
            Session session, Resource<?> resource, long leaseMillis, Predicate<Throwable> isFinal, Attempt<R> attempt) {
        this.session = session;
        this.resource = resource;
        this.number = session.nextCommand();
        this.attempt = attempt;
        this.isFinal = isFinal;
        this.begunNanos = session.now();
        this.leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        this.notBeforeNanos = begunNanos;
        this.loop = new CommandLoop<>(session, resource, this);
    }

    /**
     * Sends a command for the first time.
     *
     * @param leaseMillis for how long it is worthwhile
     * @param isFinal which failures end it at once. After others that seem to last it is repeated, too, since somebody
     *     may mend them: give a right back, or a key its type. The pauses between such repeats grow up to a sixth of
     *     the lease
     */
    public static <R> ReliableCommand<R> send(
            Session session, Resource<?> resource, long leaseMillis, Predicate<Throwable> isFinal, Attempt<R> attempt) {
        ReliableCommand<R> command = new ReliableCommand<>(session, resource, leaseMillis, isFinal, attempt);
        resource.run((state, now) -> command.loop.tell());
        return command;
    }

    long number() {
        return number;
    }

    /** Completes when Redis has confirmed it; fails when it is given up. */
    public CompletableFuture<R> confirmed() {
        return confirmed;
    }

    /** Returns what no repeat seems to mend that the last attempt has failed by. It is repeated all the same. */
    public @Nullable Throwable refusal() {
        Throwable last = resource.<@Nullable Throwable>call((state, now) -> lastFailure);
        return last == null || Failures.isTransient(last) ? null : last;
    }

    /**
     * Repeats it also if there is no answer at all. A caller that waits for the answer need not ask for that before it
     * gives up.
     */
    @CanIgnoreReturnValue
    public ReliableCommand<R> insist() {
        resource.run((state, now) -> {
            isInsisted = true;
            watch();
        });
        return this;
    }

    private void watch() {
        if (!isOver) {
            session.watch(this);
        }
    }

    /** Repeats the first attempt, which has been silent for as long as anybody waits, and so on. */
    public void repeat() {
        insist();
        session.execute(this::look);
    }

    /** Repeats it if that is due: what nobody insists on only if it was refused, since it may have been executed. */
    void look() {
        resource.run((state, now) -> {
            if (now - notBeforeNanos >= 0 && (isInsisted || !loop.isInFlight())) {
                loop.beat(false);
            }
        });
    }

    private boolean isWorthwhile() {
        return session.now() - begunNanos < leaseNanos && !session.isClosed();
    }

    private void end(Runnable outcome) {
        isOver = true;
        session.unwatch(this);
        resource.later(outcome);
    }

    private void giveUp(Throwable cause) {
        end(() -> confirmed.completeExceptionally(cause));
    }

    // ---- the loop's events

    @Override
    public @Nullable Supplier<CompletableFuture<R>> say(long nowNanos) {
        if (isOver) {
            return null;
        }
        if (isSent && !isWorthwhile()) {
            giveUp(new RedisUnavailableException("not confirmed before the lease was over", lastFailure));
            return null;
        }
        boolean isFirst = !isSent;
        isSent = true;
        return () -> attempt.send(isFirst);
    }

    @Override
    public void answered(long sentNanos, R reply) {
        if (!isOver) {
            end(() -> confirmed.complete(reply));
        }
    }

    @Override
    public boolean isTransient(Throwable thrown) {
        return Failures.isTransient(thrown) && !isFinal.test(Failures.cause(thrown));
    }

    @Override
    public void failed(Throwable cause) {
        lastFailure = cause;
        if (!isOver && !isWorthwhile()) {
            giveUp(cause);
        }
    }

    /** Logged, unless it is final: then the confirmation fails by it. */
    @Override
    public boolean refused(Throwable cause) {
        lastFailure = cause;
        if (isOver) {
            return true;
        }
        boolean isOutcome = isFinal.test(cause);
        if (isOutcome || !isWorthwhile()) {
            giveUp(cause);
        } else {
            loop.tellLater();
            long now = session.now();
            notBeforeNanos = now
                    + Math.max(
                            session.settings().silenceNanos(),
                            Math.min(now - begunNanos, leaseNanos / PAUSES_IN_LEASE));
            watch();
        }
        return isOutcome;
    }
}
