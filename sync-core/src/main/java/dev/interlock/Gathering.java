package dev.interlock;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.lock.script.HoldQueue;
import dev.interlock.internal.lock.script.HoldQueue.Held;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.HoldTerms;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Acquires several names: all, or none. Everybody acquires names in the same order, that of their text, and waits for
 * one only while it has none but earlier ones. So there is no circle of such waits, and no deadlock (Dijkstra,
 * <i>Hierarchical ordering of sequential processes</i>, Acta Informatica 1, 1971).
 *
 * <p>To wait for each name in turn would cost a round trip for each. So it asks for many at a time without waiting,
 * keeps those before the first one that is taken or that others wait for, gives back the later ones, and waits for that
 * one. What it gives back it has had for about a round trip, in which it waited for no other. It keeps what it has
 * while it waits: to begin anew each time would starve those that want many.
 *
 * @param <T> the result
 */
final class Gathering<T> {
    /** It asks for so many names at a time. */
    private static final int AT_A_TIME = 100;

    private final RedisSession session;
    private final Function<String, HoldQueue> queues;
    private final ImmutableList<String> names;
    private final HoldTerms terms;
    private final Function<Optional<Hold>, T> made;
    private final long begunNanos;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    /** The holds of the first names. */
    @GuardedBy("this")
    private final List<Held> parts = new ArrayList<>();

    /** What it asks for now: the holds of the next names. */
    @GuardedBy("this")
    private List<CompletableFuture<Optional<Held>>> asked = List.of();

    /** Whether the request for them waits. Then it is one. */
    @GuardedBy("this")
    private boolean waits;

    @GuardedBy("this")
    private boolean isCancelled;

    /**
     * Creates one that doesn't ask yet.
     *
     * @param names in their order, each once
     * @param made makes the result of the hold, or of none if the wait was over before
     */
    Gathering(
            RedisSession session,
            Function<String, HoldQueue> queues,
            ImmutableList<String> names,
            HoldTerms terms,
            Function<Optional<Hold>, T> made) {
        this.session = session;
        this.queues = queues;
        this.names = names;
        this.terms = terms;
        this.made = made;
        this.begunNanos = session.now();
    }

    /** Begins. To cancel the result gives everything back. */
    synchronized CompletableFuture<T> begin() {
        askWithoutWaiting();
        goOn();
        result.whenComplete((done, failure) -> {
            if (failure != null) {
                cancel();
            }
        });
        return result;
    }

    private synchronized void cancel() {
        isCancelled = true;
        asked.forEach(one -> one.cancel(false));
    }

    @GuardedBy("this")
    private void askWithoutWaiting() {
        ask(Math.min(names.size(), parts.size() + AT_A_TIME), 0);
    }

    @GuardedBy("this")
    private void ask(int end, long waitNanos) {
        HoldTerms each = new HoldTerms(waitNanos, terms.leaseMillis(), terms.by(), Runnable::run, terms.callbacks());
        waits = waitNanos > 0;
        asked = names.subList(parts.size(), end).stream()
                .map(name -> queues.apply(name).acquire(each, Function.identity()))
                .toList();
    }

    /** Goes on for as long as there are answers. */
    private synchronized void goOn() {
        while (!asked.isEmpty()) {
            CompletableFuture<?> answered = CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new));
            if (!answered.isDone()) {
                answered.whenComplete((done, failure) -> session.execute(this::goOn));
                return;
            }
            answered();
        }
    }

    /** All have been answered. */
    @GuardedBy("this")
    private void answered() {
        List<Held> surplus = new ArrayList<>();
        Throwable failure = null;
        boolean isGap = false;
        for (CompletableFuture<Optional<Held>> one : asked) {
            failure = failure == null && one.isCompletedExceptionally() ? Failures.of(one) : failure;
            Held held = one.isCompletedExceptionally() ? null : one.join().orElse(null);
            isGap |= held == null;
            if (held != null) {
                (isGap ? surplus : parts).add(held);
            }
        }
        asked = List.of();
        CombinedHold.release(surplus);
        if (isCancelled || failure != null) {
            giveUp(failure);
        } else if (isGap) {
            waitForNext();
        } else if (parts.size() < names.size()) {
            askWithoutWaiting();
        } else {
            Hold hold = new CombinedHold(parts);
            terms.complete(session, () -> {
                if (!result.complete(made.apply(Optional.of(hold)))) {
                    hold.release();
                }
            });
        }
    }

    @GuardedBy("this")
    private void waitForNext() {
        long left = terms.waitNanos() == RemoteWait.FOREVER
                ? RemoteWait.FOREVER
                : terms.waitNanos() - (session.now() - begunNanos);
        if (waits || left <= 0) {
            giveUp(null);
        } else {
            ask(parts.size() + 1, left);
        }
    }

    @GuardedBy("this")
    private void giveUp(@Nullable Throwable cause) {
        CombinedHold.release(parts);
        terms.complete(session, () -> {
            if (cause == null) {
                result.complete(made.apply(Optional.empty()));
            } else {
                result.completeExceptionally(cause);
            }
        });
    }
}
