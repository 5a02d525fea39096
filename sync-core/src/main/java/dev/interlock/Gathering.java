package dev.interlock;

import com.google.common.collect.ImmutableList;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.HoldQueue;
import dev.interlock.internal.lock.script.HoldQueue.Held;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.HoldTerms;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
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

    /**
     * How often {@link #goOn} was called since a thread began to go on. One thread does so at a time, and looks again
     * for each of the others.
     */
    private final AtomicInteger calls = new AtomicInteger();

    private volatile boolean isCancelled;

    // The rest is used by the thread that goes on.

    /** The holds of the first names. */
    private final List<Held> parts = new ArrayList<>();

    /** The requests that are under way, for the names that come next. */
    private List<CompletableFuture<Optional<Held>>> asked = List.of();

    /** Whether the request for them waits. Then it is one. */
    private boolean waits;

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

    /** Begins. To complete the result in any other way gives everything back. */
    CompletableFuture<T> begin() {
        calls.set(1);
        askWithoutWaiting();
        goOnUntilQuiet();
        result.whenComplete((done, failure) -> {
            isCancelled = true;
            goOn();
        });
        return result;
    }

    private void askWithoutWaiting() {
        ask(Math.min(names.size(), parts.size() + AT_A_TIME), 0);
    }

    private void ask(int end, long waitNanos) {
        HoldTerms each = new HoldTerms(waitNanos, terms.leaseMillis(), terms.by(), Runnable::run, terms.callbacks());
        waits = waitNanos > 0;
        asked = names.subList(parts.size(), end).stream()
                .map(name -> queues.apply(name).acquire(each, Function.identity()))
                .toList();
        CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new)).whenComplete((done, failure) -> goOn());
    }

    /** There is an answer, or the result was cancelled. No thread waits for another one here. */
    private void goOn() {
        if (calls.getAndIncrement() == 0) {
            goOnUntilQuiet();
        }
    }

    private void goOnUntilQuiet() {
        int seen;
        do {
            seen = calls.get();
            if (isCancelled) {
                asked.forEach(one -> one.cancel(false));
            }
            if (!asked.isEmpty() && asked.stream().allMatch(CompletableFuture::isDone)) {
                answered();
            }
        } while (calls.addAndGet(-seen) > 0);
    }

    /** All have been answered. */
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
            complete();
        }
    }

    private void complete() {
        LeaseLostException loss = parts.stream()
                .map(Held::findLoss)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
        if (loss != null) {
            lost(loss);
            return;
        }
        Hold hold = new CombinedHold(parts);
        terms.grant(session, result, made.apply(Optional.of(hold)), hold::release);
    }

    /** A name was lost while others were waited for. */
    private void lost(LeaseLostException loss) {
        if (terms.leaseMillis() != RemoteLock.RENEWED) {
            // The lease may always be over before the last name is there.
            giveUp(new LeaseLostException(loss));
            return;
        }
        CombinedHold.release(parts);
        parts.clear();
        askWithoutWaiting();
    }

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

    private void giveUp(@Nullable Throwable cause) {
        CombinedHold.release(parts);
        if (isCancelled) {
            return;
        }
        terms.complete(session, () -> {
            if (cause == null) {
                result.complete(made.apply(Optional.empty()));
            } else {
                result.completeExceptionally(cause);
            }
        });
    }
}
