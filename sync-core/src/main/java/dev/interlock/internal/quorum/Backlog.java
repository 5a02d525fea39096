package dev.interlock.internal.quorum;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.LeaseRenewer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a node has yet to confirm. There is one timer, however much that is. A node that doesn't answer is asked by one
 * command at a time, less and less often; one that answers gets the rest in batches.
 */
public final class Backlog {
    /** A command that a node is sent until it has confirmed it. */
    public interface Entry {
        /** Returns whether the command needn't be sent any more. */
        boolean isOver();

        /** Returns whether no attempt is under way that may still be answered. */
        boolean isDue(long now);

        /** Sends the command. The result completes with the answer, or fails. */
        CompletableFuture<?> send();
    }

    private static final long RETRY_MILLIS = 200;
    private static final long MOST_MILLIS = 1_600;
    private static final int BATCH = 64;

    private final Settings settings;
    private final LeaseRenewer.Timer timer;

    @GuardedBy("this")
    private List<Entry> entries = new ArrayList<>();

    /** Whether all is sent at once from now on. */
    @GuardedBy("this")
    private boolean flushed;

    /** Whether nothing of the last batch was answered. */
    @GuardedBy("this")
    private boolean silent;

    @GuardedBy("this")
    private long pauseMillis = RETRY_MILLIS;

    /** The beat that is to come or under way; null if there is nothing to do. */
    @GuardedBy("this")
    private @Nullable Object next;

    /** Creates an empty one. */
    public Backlog(Settings settings, LeaseRenewer.Timer timer) {
        this.settings = settings;
        this.timer = timer;
    }

    /** Takes a command that was sent once. */
    public void add(Entry entry) {
        synchronized (this) {
            entries.add(entry);
            if (next != null) {
                return;
            }
        }
        beatIn(RETRY_MILLIS);
    }

    /** The node has answered another command: sends the rest at once. */
    public void heard() {
        synchronized (this) {
            if (!silent) {
                return;
            }
            silent = false;
        }
        beatIn(0);
    }

    /** Sends everything at once, and so what comes later: the session is being closed. */
    public void flush() {
        synchronized (this) {
            flushed = true;
        }
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
        List<Entry> all;
        long most;
        synchronized (this) {
            if (next != beat) {
                return;
            }
            all = entries;
            entries = new ArrayList<>();
            most = flushed ? Long.MAX_VALUE : silent ? 1 : BATCH;
        }
        long now = settings.ticker().getAsLong();
        List<Entry> due = new ArrayList<>();
        List<Entry> others = new ArrayList<>();
        for (Entry entry : all) {
            if (!entry.isOver()) {
                (due.size() < most && entry.isDue(now) ? due : others).add(entry);
            }
        }
        keep(beat, others, due);
        if (due.isEmpty()) {
            goOn(beat, RETRY_MILLIS);
        } else {
            send(beat, due);
        }
    }

    private synchronized void keep(Object beat, List<Entry> others, List<Entry> due) {
        // What was tried comes last, so that none keeps the others waiting.
        entries.addAll(0, others);
        entries.addAll(due);
        if (entries.isEmpty() && next == beat) {
            next = null;
            silent = false;
        }
    }

    private void send(Object beat, List<Entry> due) {
        CompletableFuture<?>[] replies = due.stream().map(Entry::send).toArray(CompletableFuture<?>[]::new);
        CompletableFuture<Void> answers = CompletableFuture.allOf(replies).handle((done, failure) -> null);
        answers.thenRun(() -> goOn(beat, pauseAfter(replies)));
        if (!answers.isDone()) {
            timer.schedule(() -> answers.complete(null), TimeUnit.NANOSECONDS.toMillis(settings.silenceNanos()));
        }
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
