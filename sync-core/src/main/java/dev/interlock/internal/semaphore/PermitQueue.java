package dev.interlock.internal.semaphore;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.SyncListener.Outcome;
import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.semaphore.Holdings.Release;
import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Taking;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import dev.interlock.internal.session.HoldTerms;
import dev.interlock.internal.session.Holding;
import dev.interlock.internal.session.LeaseRenewer.Scheduled;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.Resource;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Permits of a semaphore that no thread owns: who has them in a session, and who waits for them. It takes the place
 * that {@link SemaphoreSync} and the superclass have for threads.
 *
 * <p>All of it is used in events of the semaphore's resource only, but for what is final or volatile. What users wait
 * for is completed once the mutex is free.
 */
public final class PermitQueue implements PermitStock {
    private final RedisSession session;
    private final String name;
    private final ScriptSemaphore remote;
    final Resource<LocalPermits> resource;

    /** How many permits are granted to the session and taken by nobody. */
    private int stock;

    /** Those that wait, by their place. */
    private final NavigableMap<Long, Request<?>> waiting = new TreeMap<>();

    private long places;

    /** Those that have permits, if permits belong to sessions: they may lose them. */
    private final Set<Held> inside = new LinkedHashSet<>();

    private final boolean owned;

    /**
     * Joins the semaphore of that name, which is as stated unless Redis knows better.
     *
     * @param permits how many there are in all
     * @param owned whether permits belong to the session that was granted them
     * @param fair whether those who wait are served in their order, also if that keeps permits idle
     */
    public PermitQueue(RedisSession session, String name, int permits, boolean owned, boolean fair) {
        this.session = session;
        this.name = name;
        this.owned = owned;
        this.remote = new ScriptSemaphore(session, name, permits, owned, fair, this);
        this.resource = remote.resource();
        resource.run((known, now) -> known.holdings.listeners.add(this::areLost));
    }

    // ---- the stock

    @Override
    public boolean tryAcquire(int permits) {
        boolean isThere = permits <= stock;
        stock -= isThere ? permits : 0;
        return isThere;
    }

    @Override
    public void release(int permits) {
        stock += permits;
        resource.later(() -> resource.run(this::serve));
    }

    @Override
    public int availablePermits() {
        return stock;
    }

    @Override
    public int drainPermits() {
        int drained = stock;
        stock = 0;
        return drained;
    }

    @Override
    public Collection<?> queued() {
        return Collections.unmodifiableCollection(waiting.values());
    }

    // ---- acquisition

    /**
     * Asks for permits, all at once.
     *
     * @param permits 1 or more
     * @param result makes the result of what is held, or of nothing if the wait was over before
     * @return to cancel it withdraws the request; permits that are granted meanwhile are given back
     */
    public <T> CompletableFuture<T> acquire(int permits, HoldTerms terms, Function<Optional<Held>, T> result) {
        Request<T> request = new Request<>(permits, terms, result);
        resource.run((known, now) -> {
            try {
                session.ensureAcquiring();
                if (terms.isOnce()) {
                    request.ask(known, now);
                } else {
                    request.come(known, now);
                }
            } catch (RuntimeException e) {
                request.fail(e);
            }
        });
        request.result.whenComplete((value, failure) -> request.completed());
        closeIfLate();
        return request.result;
    }

    // The session may have been closed before it could see this request.
    private void closeIfLate() {
        if (session.isClosed()) {
            var unused = remote.close();
        }
    }

    /** A request for permits. */
    private final class Request<T> {
        final int permits;
        final HoldTerms terms;
        final Waiter waiter;
        final CompletableFuture<T> result = new CompletableFuture<>();
        private final Function<Optional<Held>, T> made;
        private long place;
        private @Nullable Scheduled timer;

        /** Whether its outcome is known. */
        private volatile boolean isOver;

        Request(int permits, HoldTerms terms, Function<Optional<Held>, T> made) {
            this.permits = permits;
            this.terms = terms;
            this.made = made;
            this.waiter = new Waiter(this, permits, session.now());
        }

        // ---- once

        void ask(LocalPermits known, long now) {
            Operation operation = known.tryAcquireInTurn(permits, now);
            if (operation == null) {
                enter();
                return;
            }
            once(operation.result)
                    .whenComplete((done, failure) ->
                            whenCertain(operation, (later, then) -> answered(later, operation, then)));
        }

        private void answered(LocalPermits known, Operation operation, long now) {
            boolean isAnswered = known.end(operation, now);
            if (!isAnswered) {
                fail(session.isClosed() ? session.closure() : unavailable());
            } else if (operation.result.isCompletedExceptionally()) {
                fail(SemaphoreSync.refusal(name, Failures.of(operation.result)));
            } else if (operation.result.join() >= 0 && !operation.stray) {
                enter();
            } else {
                refuse();
            }
        }

        // ---- waiting

        void come(LocalPermits known, long now) {
            place = places++;
            waiting.put(place, this);
            if (known.come(waiter, now)) {
                waiting.remove(place);
                enter();
                return;
            }
            if (terms.isTimed()) {
                lookAfter(terms.waitNanos(), this::timeOut);
            }
        }

        /** Takes its permits from the stock, which has them. */
        void take(LocalPermits known, long now) {
            waiting.remove(place);
            stock -= permits;
            boolean isPassed;
            try {
                isPassed = known.comeOut(waiter, true, now);
            } catch (RuntimeException e) {
                fail(e);
                return;
            }
            if (!isPassed) {
                // It is charged with permits that were lost, and waits on.
                waiting.put(place, this);
            } else if (waiter.arrived == 0) {
                enter();
            } else {
                whenCertain(waiter, this::confirm);
            }
        }

        private void confirm(LocalPermits known, long now) {
            boolean isKnown = known.isCertain(waiter, now) && !isOver && !session.isClosed();
            boolean acquired = known.confirm(waiter, isKnown, now);
            if (acquired) {
                enter();
            } else if (!isKnown) {
                known.withdraw(waiter);
                fail(session.isClosed() ? session.closure() : unavailable());
            } else {
                // They were lost, and it is registered again.
                waiting.put(place, this);
                if (terms.isTimed() && now - waiter.sinceNanos >= terms.waitNanos()) {
                    timeOut(known, now);
                }
            }
        }

        private void timeOut(LocalPermits known, long now) {
            if (waiting.remove(place, this)) {
                known.comeOut(waiter, false, now);
                if (session.outage().isActive()) {
                    fail(unavailable());
                } else {
                    refuse();
                }
            }
        }

        /** Its future is completed, by us or by its user. */
        void completed() {
            if (!isOver) {
                resource.run(this::withdraw);
            }
        }

        private void withdraw(LocalPermits known, long now) {
            if (!isOver) {
                over(Outcome.FAILED);
                if (waiting.remove(place, this)) {
                    known.withdraw(waiter);
                }
            }
        }

        // ---- the end

        private void lookAfter(long nanos, Resource.Event<LocalPermits> look) {
            long millis = TimeUnit.NANOSECONDS.toMillis(Math.min(nanos, Long.MAX_VALUE - 999_999) + 999_999);
            timer = session.schedule(() -> resource.run(look), millis);
        }

        private void over(Outcome outcome) {
            isOver = true;
            if (timer != null) {
                timer.cancel();
            }
            SyncListener listener = session.settings().listener();
            if (listener != SyncListener.NONE) {
                long waitedNanos = session.now() - waiter.sinceNanos;
                resource.later(() -> session.tell(() -> listener.permitsAsked(name, permits, outcome, waitedNanos)));
            }
        }

        private void enter() {
            Held held = new Held(permits, terms);
            if (owned) {
                inside.add(held);
            }
            if (isOver) {
                // Withdrawn while it was under way.
                held.release();
                return;
            }
            over(Outcome.ACQUIRED);
            T granted = made.apply(Optional.of(held));
            resource.later(() -> terms.grant(session, result, granted, held::release));
        }

        private void refuse() {
            if (!isOver) {
                over(Outcome.TIMEOUT);
                complete(terms, () -> result.complete(made.apply(Optional.empty())));
            }
        }

        void fail(Throwable cause) {
            if (!isOver) {
                over(Outcome.FAILED);
                complete(terms, () -> result.completeExceptionally(cause));
            }
        }

        /** What operators see. */
        @Override
        public String toString() {
            return terms.by();
        }
    }

    /** Serves those in front whose permits are there. */
    private void serve(LocalPermits known, long now) {
        while (!waiting.isEmpty() && waiting.firstEntry().getValue().permits <= stock) {
            waiting.firstEntry().getValue().take(known, now);
        }
    }

    /** Goes on when it is known whether permits that have arrived are the session's, or that can't be known in time. */
    private void whenCertain(Taking taking, Resource.Event<LocalPermits> next) {
        CompletableFuture<Void> asked = resource.<@Nullable CompletableFuture<Void>>call(
                (known, now) -> known.isCertain(taking, now) ? null : remote.confirmed());
        if (asked == null) {
            resource.run(next);
        } else {
            once(asked).whenComplete((done, failure) -> resource.run(next));
        }
    }

    /** Completes with an answer, after a command time-out, or when the session is closed. */
    private CompletableFuture<Void> once(CompletableFuture<?> answer) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        session.expect(over, over);
        answer.whenComplete((done, failure) -> over.complete(null));
        Scheduled timer =
                session.schedule(() -> over.complete(null), session.settings().commandTimeoutMillis());
        over.whenComplete((done, failure) -> timer.cancel());
        return over;
    }

    private RedisUnavailableException unavailable() {
        return new RedisUnavailableException(
                "Redis has not answered for semaphore " + Names.quoted(name),
                session.outage().cause());
    }

    // What users wait for is completed once the mutex is free.

    private void complete(HoldTerms terms, Runnable outcome) {
        resource.later(() -> terms.complete(session, outcome));
    }

    private void callBack(HoldTerms terms, Runnable outcome) {
        resource.later(() -> terms.callBack(session, outcome));
    }

    // ---- permits that are held

    /** Permits that belong to no thread. */
    public final class Held implements Holding {
        private final int permits;
        private final HoldTerms terms;
        private final CompletableFuture<LeaseLostException> lost = new CompletableFuture<>();
        private volatile @Nullable CompletableFuture<Void> released;
        private volatile @Nullable LeaseLostException loss;

        Held(int permits, HoldTerms terms) {
            this.permits = permits;
            this.terms = terms;
        }

        @Override
        public String name() {
            return name;
        }

        /** Returns how many there are. */
        public int permits() {
            return permits;
        }

        @Override
        public @Nullable LeaseLostException loss() {
            return loss;
        }

        @Override
        public long token() {
            throw new UnsupportedOperationException(
                    "permits have no fencing tokens, since several may be held at a time");
        }

        @Override
        public boolean isValid() {
            session.settings().suspensions().look();
            return released == null
                    && loss == null
                    && (!owned || !resource.<Boolean>call((known, now) -> known.isUncertain(now)));
        }

        @Override
        public void assertValid() {
            if (released != null) {
                throw new IllegalStateException("the permits of " + Names.quoted(name) + " have been released");
            }
            ask();
            LeaseLostException known = loss;
            if (known != null) {
                throw new LeaseLostException(known);
            }
            if (!isValid()) {
                throw unavailable();
            }
        }

        private void ask() {
            session.settings().suspensions().look();
            CompletableFuture<Void> asked = resource.<@Nullable CompletableFuture<Void>>call(
                    (known, now) -> owned && known.isUncertain(now) ? remote.confirmed() : null);
            if (asked != null) {
                session.await(asked);
            }
        }

        @Override
        public CompletionStage<LeaseLostException> lost() {
            return lost.copy();
        }

        @Override
        public CompletableFuture<Void> release() {
            return resource.call((known, now) -> {
                CompletableFuture<Void> result = released;
                if (result == null) {
                    result = new CompletableFuture<>();
                    released = result;
                    giveBack(result, known, now);
                }
                return result;
            });
        }

        private void giveBack(CompletableFuture<Void> result, LocalPermits known, long now) {
            LeaseLostException before = loss;
            if (before != null) {
                callBack(terms, () -> result.completeExceptionally(new LeaseLostException(before)));
            } else if (owned && known.isUncertain(now)) {
                once(remote.confirmed())
                        .whenComplete((done, failure) -> resource.run((later, then) -> leave(result, later, then)));
            } else {
                leave(result, known, now);
            }
        }

        private void leave(CompletableFuture<Void> result, LocalPermits known, long now) {
            inside.remove(this);
            LeaseLostException before = loss;
            if (before != null) {
                callBack(terms, () -> result.completeExceptionally(new LeaseLostException(before)));
                return;
            }
            Release release = known.release(permits, now);
            session.expect(this, result);
            endInTime(result);
            remote.told()
                    .whenComplete((done, failure) -> resource.run((later, then) -> {
                        LeaseLostException found =
                                release.isSettled() ? release.loss() : later.holdings.abandon(release);
                        Throwable cause = found != null
                                ? new LeaseLostException(found)
                                : failure == null ? null : SemaphoreSync.refusal(name, Failures.cause(failure));
                        callBack(terms, () -> {
                            if (cause == null) {
                                result.complete(null);
                            } else {
                                result.completeExceptionally(cause);
                            }
                        });
                    }));
        }

        // What isn't confirmed within a lease is repeated all the same, but nobody waits for it any longer.
        private void endInTime(CompletableFuture<Void> result) {
            Runnable end = () -> result.completeExceptionally(new RedisUnavailableException(
                    "Redis has not confirmed the release of permits of " + Names.quoted(name) + " within a lease",
                    session.outage().cause()));
            Scheduled timer = session.schedule(
                    () -> terms.callBack(session, end), session.settings().leaseMillis());
            result.whenComplete((done, failure) -> timer.cancel());
        }

        @Override
        public CompletableFuture<Void> extend(long leaseMillis) {
            throw new UnsupportedOperationException("permits are renewed until they are released");
        }

        @Override
        public void close() {
            boolean isFirst = released == null;
            LeaseLostException known = loss;
            release();
            if (isFirst && known != null) {
                throw new LeaseLostException(known);
            }
        }

        @Override
        public String toString() {
            String what = released != null ? "released " : loss != null ? "lost " : "";
            return what + permits + " permits of " + Names.quoted(name);
        }
    }

    /** All that the session had are lost. Those who had them needn't release them: nobody else is charged with it. */
    private void areLost(LeaseLostException loss) {
        resource.run((known, now) -> {
            for (Held held : inside) {
                known.release(held.permits, now);
                held.loss = loss;
                callBack(held.terms, () -> held.lost.complete(loss));
            }
            inside.clear();
        });
    }

    @Override
    public String toString() {
        return "the permits of " + Names.quoted(name) + " in " + session.id();
    }
}
