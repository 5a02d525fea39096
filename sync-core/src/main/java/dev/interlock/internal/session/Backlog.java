package dev.interlock.internal.session;

import dev.interlock.internal.redis.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a node has yet to confirm. There is one timer, however much that is. A node that doesn't answer is asked by one
 * command at a time, less and less often; one that answers gets the rest in batches.
 */
public final class Backlog {
    /** Something that a node is told until it has confirmed it. */
    public interface Errand {
        /** Returns whether the node needn't be told any more. */
        boolean isOver();

        /** Returns whether no command is under way from which an answer may still come. */
        boolean isDue(long now);

        /** Tells the node. The result completes with the answer, or fails. */
        CompletableFuture<?> send();
    }

    private static final long RETRY_MILLIS = 200;
    private static final long MOST_MILLIS = 1_600;
    private static final int BATCH = 64;

    private final Settings settings;
    private final Timer timer;
    private final BooleanSupplier closed;

    private List<Errand> errands = new ArrayList<>();

    /** Whether nothing of the last batch was answered. */
    private boolean silent;

    private long pauseMillis = RETRY_MILLIS;

    /** The beat that is to come or under way; null if there is nothing to do. */
    private @Nullable Object next;

    /** Creates an empty one. */
    public Backlog(Settings settings, Timer timer, BooleanSupplier closed) {
        this.settings = settings;
        this.timer = timer;
        this.closed = closed;
    }

    /** Takes an errand that was sent once. */
    public void add(Errand errand) {
        synchronized (this) {
            errands.add(errand);
            if (next != null) {
                return;
            }
        }
        beatIn(RETRY_MILLIS);
    }

    /** The node has answered, so it's worthwhile to tell it the rest. */
    public void heard() {
        synchronized (this) {
            if (!silent) {
                return;
            }
            silent = false;
        }
        beatIn(0);
    }

    /** Tells the node everything at once. */
    public void flush() {
        beatIn(0);
    }

    /** Beats once more, instead of any beat that was to come. */
    private void beatIn(long millis) {
        Object beat = new Object();
        synchronized (this) {
            next = beat;
        }
        timer.schedule(() -> beat(beat), millis);
    }

    private void beat(Object beat) {
        List<Errand> all;
        synchronized (this) {
            if (next != beat) {
                return;
            }
            all = errands;
            errands = new ArrayList<>();
        }
        long now = settings.ticker().getAsLong();
        long most = closed.getAsBoolean() ? Long.MAX_VALUE : silent() ? 1 : BATCH;
        List<Errand> due = new ArrayList<>();
        List<Errand> others = new ArrayList<>();
        for (Errand errand : all) {
            if (!errand.isOver()) {
                (due.size() < most && errand.isDue(now) ? due : others).add(errand);
            }
        }
        synchronized (this) {
            // What was tried comes last, so that none keeps the others waiting.
            errands.addAll(0, others);
            errands.addAll(due);
            if (errands.isEmpty() && next == beat) {
                next = null;
                silent = false;
            }
        }
        if (due.isEmpty()) {
            goOn(beat, RETRY_MILLIS);
            return;
        }
        CompletableFuture<?>[] replies = due.stream().map(Errand::send).toArray(CompletableFuture<?>[]::new);
        CompletableFuture<Void> answers = CompletableFuture.allOf(replies).handle((done, failure) -> null);
        answers.thenRun(() -> goOn(beat, pauseAfter(replies)));
        if (!answers.isDone()) {
            timer.schedule(() -> answers.complete(null), TimeUnit.NANOSECONDS.toMillis(settings.silenceNanos()));
        }
    }

    private synchronized boolean silent() {
        return silent;
    }

    private synchronized long pauseAfter(CompletableFuture<?>[] replies) {
        for (CompletableFuture<?> reply : replies) {
            if (reply.isDone() && !reply.isCompletedExceptionally()) {
                silent = false;
                pauseMillis = RETRY_MILLIS;
                return 0;
            }
        }
        pauseMillis = silent ? Math.min(MOST_MILLIS, 2 * pauseMillis) : RETRY_MILLIS;
        silent = true;
        return pauseMillis;
    }

    private void goOn(Object beat, long millis) {
        synchronized (this) {
            if (next != beat) {
                return;
            }
        }
        beatIn(millis);
    }
}
