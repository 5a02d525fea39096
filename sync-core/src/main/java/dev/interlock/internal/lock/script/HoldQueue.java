package dev.interlock.internal.lock.script;

import static java.util.Objects.requireNonNull;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener.Outcome;
import dev.interlock.internal.Names;
import dev.interlock.internal.Stake;
import dev.interlock.internal.lock.HoldRecorder;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockEffect.LookAt;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.lock.script.LockState.Advance;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.HoldTerms;
import dev.interlock.internal.session.Holding;
import dev.interlock.internal.session.LeaseRenewer.Scheduled;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The holds of one name in a session: who has it, and who waits, in the order in which they came. It takes the place
 * that {@link ScriptLock} and its local half have for threads: the request in front is the leader, and waits without a
 * thread. It takes a step whenever something happens that it may have waited for, or the time has come that the
 * {@link LockState} gives it.
 *
 * <p>All of it is used in events of the {@link LockMonitor}'s resource only, but for what is final or volatile. What
 * users wait for is completed once the mutex is free, on an executor.
 */
public final class HoldQueue implements LockMonitor.Owner {
    /** What listeners and operators call it. */
    public static final String KIND = "hold";

    /** The pulse looks at each name so often. */
    private static final long LOOK_NANOS = RemoteWait.LOOK_NANOS;

    /** Operators see so many requests in front. */
    private static final int MOST_SHOWN = 1_000;

    private final RedisSession session;
    private final String name;
    final LockView view;
    final LockMonitor monitor;
    private final HoldRecorder recorder;

    private final Set<Request<?>> waiting = new LinkedHashSet<>();

    /** Who has the name. One that has lost it is no longer in the way, unless the session waits for such. */
    private volatile @Nullable Held inside;

    /** Creates the queue of a name. */
    public HoldQueue(RedisSession session, String name) {
        this.session = session;
        this.name = name;
        Settings settings = session.settings();
        KeepPolicy keep = new KeepPolicy(settings.handoffSliceNanos(), false, 0, settings.adaptiveRetention());
        this.view = new LockView(false, keep, settings.commandTimeoutMillis(), session.now());
        this.monitor = new LockMonitor(session, session.key(name), view, this);
        this.recorder = new HoldRecorder(session, name, KIND, monitor.resource::later);
    }

    // ---- acquisition

    /**
     * Asks for a hold.
     *
     * @param result makes the result of the hold, or of none if the wait was over before
     * @return to cancel it withdraws the request; what is granted meanwhile is given back
     */
    public <T> CompletableFuture<T> acquire(HoldTerms terms, Function<Optional<Held>, T> result) {
        Request<T> request = new Request<>(terms, result);
        Held holder = inside;
        if (holder != null) {
            // Its lease may be over, and the timer late.
            holder.findLoss();
        }
        monitor.run((state, now) -> {
            if (session.isClosing()) {
                request.fail(session.closure());
            } else if (terms.isOnce() && (inside != null || !waiting.isEmpty())) {
                request.refuse();
            } else {
                waiting.add(request);
                step(state, now);
                request.waitIfPending();
            }
        });
        request.result.whenComplete((value, failure) -> withdraw(request));
        if (session.isClosed()) {
            // It may have been closed before it could see this request.
            refuseAll();
        }
        return request.result;
    }

    /** A request that waits. */
    private final class Request<T> {
        final HoldTerms terms;
        final long begunNanos = session.now();
        final CompletableFuture<T> result = new CompletableFuture<>();
        private final Function<Optional<Held>, T> made;

        /** Made for its first step. */
        @Nullable
        Attempt attempt;

        private final HoldRecorder.@Nullable Request recorded = recorder.request();
        private boolean asksRedis;
        private @Nullable Scheduled timer;

        /** Whether its outcome is known. */
        private volatile boolean isOver;

        Request(HoldTerms terms, Function<Optional<Held>, T> made) {
            this.terms = terms;
            this.made = made;
        }

        /** Takes a step towards a tenure, being the first in the queue. */
        Advance advance(LockState state, long now) {
            boolean isFirst = attempt == null;
            // The thread is of no account: a plain lock's tickets are the session's.
            Attempt step = attempt == null
                    ? new Attempt(Thread.currentThread(), terms.leaseMillis(), terms.isOnce(), false, begunNanos)
                    : attempt;
            attempt = step;
            asksRedis = true;
            if (isFirst && recorded != null) {
                recorded.asksRedis();
            }
            return state.advance(step, isFirst && terms.isTimed(), now);
        }

        /** It isn't over by the end of the call. */
        void waitIfPending() {
            if (!waiting.contains(this)) {
                return;
            }
            if (recorded != null) {
                recorded.begin();
            }
            if (terms.isTimed()) {
                lookAfter(terms.isOnce() ? commandNanos() : terms.waitNanos());
            }
        }

        private void lookAfter(long nanos) {
            long millis = TimeUnit.NANOSECONDS.toMillis(Math.min(nanos, RemoteWait.FOREVER - 999_999) + 999_999);
            timer = session.schedule(() -> monitor.run((state, now) -> look(state, now)), millis);
        }

        /** Its time is over, unless there should be an answer first. */
        private void look(LockState state, long now) {
            if (!waiting.contains(this)) {
                return;
            }
            // As a RemoteWait does for a thread.
            boolean isKnown = !asksRedis || view.hasHeardSince(begunNanos);
            long left = Math.min(RemoteWait.FIRST_ANSWER_NANOS, commandNanos()) - (now - begunNanos);
            if (!isKnown && left > 0) {
                lookAfter(left);
                return;
            }
            remove(this, state);
            if (asksRedis && (terms.isOnce() || !isKnown || session.outage().isActive())) {
                fail(unavailable(now - begunNanos));
            } else {
                refuse();
            }
            step(state, now);
        }

        /** It is over without a hold. */
        void refuse() {
            ended(Outcome.TIMEOUT, 0);
            complete(terms, () -> result.complete(made.apply(Optional.empty())));
        }

        /** It is over, and has got the hold. */
        void grant(Held held) {
            ended(Outcome.ACQUIRED, held.token);
            T granted = made.apply(Optional.of(held));
            monitor.resource.later(() -> terms.grant(session, result, granted, held::release));
        }

        void fail(Throwable cause) {
            ended(Outcome.FAILED, 0);
            complete(terms, () -> result.completeExceptionally(cause));
        }

        private void ended(Outcome outcome, long token) {
            isOver = true;
            if (timer != null) {
                timer.cancel();
            }
            if (recorded != null) {
                recorded.end(outcome, token);
            }
        }
    }

    private void withdraw(Request<?> request) {
        if (request.isOver) {
            return;
        }
        monitor.run((state, now) -> {
            if (remove(request, state)) {
                request.ended(Outcome.FAILED, 0);
                step(state, now);
            }
        });
    }

    private boolean remove(Request<?> request, LockState state) {
        boolean wasThere = waiting.remove(request);
        if (wasThere && request.attempt != null && request.terms.isOnce()) {
            state.endOnce(session.now());
        }
        return wasThere;
    }

    private RedisUnavailableException unavailable(long waitedNanos) {
        return new RedisUnavailableException(
                "Redis has not answered for hold " + Names.quoted(name) + " within "
                        + TimeUnit.NANOSECONDS.toMillis(waitedNanos) + " ms",
                session.outage().cause());
    }

    private long commandNanos() {
        return TimeUnit.MILLISECONDS.toNanos(session.settings().commandTimeoutMillis());
    }

    /** Serves requests for as long as that is possible without waiting. */
    private void step(LockState state, long now) {
        while (inside == null && !waiting.isEmpty()) {
            Request<?> first = waiting.iterator().next();
            if (!isServed(first, state, now)) {
                return;
            }
        }
        if (inside == null) {
            tidy(state, now);
        }
    }

    /** Returns whether a request is over, one way or another. */
    private boolean isServed(Request<?> first, LockState state, long now) {
        LockTenure current = view.tenure;
        long relied = current == null ? 0 : current.reliedOnNanos(now);
        if (relied > 0 && first.terms.isOnce()) {
            waiting.remove(first);
            first.refuse();
            return true;
        }
        if (relied > 0) {
            lookIn(relied, state, now);
            return false;
        }
        if (current != null
                && first.terms.leaseMillis() == RemoteLock.RENEWED
                && current.renewed
                && current.take(now)) {
            enter(first, current, now);
            return true;
        }
        Advance advance;
        try {
            advance = first.advance(state, now);
        } catch (IllegalStateException e) {
            remove(first, state);
            first.fail(e);
            return true;
        }
        if (advance == Advance.WAITING) {
            lookIn(state.untilDue(now), state, now);
            return false;
        }
        LockTenure granted = view.tenure;
        if (advance == Advance.ENTERED && granted != null) {
            enter(first, granted, now);
        } else {
            remove(first, state);
            first.refuse();
        }
        return true;
    }

    // The pulse looks in any case.
    private static void lookIn(long nanos, LockState state, long now) {
        if (nanos < LOOK_NANOS) {
            state.effects.add(new LookAt(now + nanos));
        }
    }

    private void enter(Request<?> request, LockTenure current, long now) {
        waiting.remove(request);
        view.keep.entered(request.begunNanos);
        Held held = new Held(request.terms, current, now);
        inside = held;
        request.grant(held);
    }

    // ---- holds

    /** The right to the name, which belongs to no thread. */
    public final class Held implements Holding {
        private final HoldTerms terms;
        private final LockTenure current;
        private final long token;
        private final long sinceNanos;
        private final CompletableFuture<LeaseLostException> lost = new CompletableFuture<>();
        private final @Nullable Runnable recorded;

        /** Set when it is released. */
        private volatile @Nullable CompletableFuture<Void> released;

        private volatile @Nullable LeaseLostException loss;

        Held(HoldTerms terms, LockTenure current, long now) {
            this.terms = terms;
            this.current = current;
            this.token = current.token();
            this.sinceNanos = now;
            this.recorded = recorder.hold(token);
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long token() {
            return token;
        }

        @Override
        public @Nullable LeaseLostException loss() {
            return loss;
        }

        @Override
        public boolean isValid() {
            session.settings().suspensions().look();
            return released == null && loss == null && current.isUsable(session.now());
        }

        @Override
        public void assertValid() {
            checkNotReleased();
            session.settings().suspensions().look();
            if (loss == null && current.isInDoubt(session.now())) {
                session.await(monitor.confirm(current));
            }
            LeaseLostException known = loss;
            if (known == null && current.isOver(session.now())) {
                known = monitor.lose(current, "its lease is over");
            }
            if (known != null) {
                throw new LeaseLostException(known);
            }
            if (!current.isUsable(session.now())) {
                throw new RedisUnavailableException(
                        "Redis has not answered whether " + Names.quoted(name)
                                + " is still held, since the machine was suspended or its clock set",
                        session.outage().cause());
            }
        }

        private void checkNotReleased() {
            if (released != null) {
                throw wasReleased();
            }
        }

        private IllegalStateException wasReleased() {
            return new IllegalStateException("the hold of " + Names.quoted(name) + " has been released");
        }

        /** Returns the loss, also if that is only found now. */
        public @Nullable LeaseLostException findLoss() {
            LeaseLostException known = loss;
            boolean isFound = known == null && released == null && current.isOver(session.now());
            return isFound ? monitor.lose(current, "its lease is over") : known;
        }

        @Override
        public CompletionStage<LeaseLostException> lost() {
            return lost.copy();
        }

        @Override
        public CompletableFuture<Void> extend(long leaseMillis) {
            if (current.renewed) {
                throw new UnsupportedOperationException("the hold of " + Names.quoted(name)
                        + " is renewed until it is released; only a fixed lease can be extended");
            }
            session.settings().suspensions().look();
            checkNotReleased();
            LeaseLostException known = findLoss();
            if (known != null) {
                return CompletableFuture.failedFuture(new LeaseLostException(known));
            }
            CompletableFuture<Void> result = new CompletableFuture<>();
            monitor.run((state, now) -> monitor.resource
                    .send(() -> monitor.scripts.extend(current.sequence, leaseMillis))
                    .whenComplete((reply, failure) -> extended(result, now, reply, failure)));
            return result;
        }

        private void extended(
                CompletableFuture<Void> result,
                long sentNanos,
                LockScripts.@Nullable Renewal reply,
                @Nullable Throwable failure) {
            session.settings().suspensions().look();
            monitor.run((state, now) -> {
                Throwable cause = released != null ? wasReleased() : null;
                if (cause == null && current.isOver(now)) {
                    cause = new LeaseLostException(state.lose(current, "its lease is over", true, now));
                } else if (cause == null && reply == null) {
                    cause = notExtended(Failures.cause(requireNonNull(failure)));
                } else if (cause == null && reply != null && !reply.owned()) {
                    cause = new LeaseLostException(state.lose(current, LockState.OWNER_CHANGED, true, now));
                } else if (cause == null && reply != null) {
                    current.extended(sentNanos, reply.ttlMillis(), now, state.effects);
                }
                complete(result, cause);
            });
        }

        @Override
        public CompletableFuture<Void> release() {
            return release(true);
        }

        /**
         * As {@link #release}, but the next hold goes through Redis, also if it is one of this session: by its order.
         */
        public CompletableFuture<Void> handOver() {
            return release(false);
        }

        private CompletableFuture<Void> release(boolean mayKeep) {
            return monitor.call((state, now) -> {
                CompletableFuture<Void> known = released;
                if (known == null) {
                    known = new CompletableFuture<>();
                    released = known;
                    leave(this, known, mayKeep, state, now);
                    step(state, now);
                }
                return known;
            });
        }

        @Override
        public void close() {
            boolean isFirst = released == null;
            release();
            LeaseLostException known = loss;
            if (isFirst && known != null) {
                throw new LeaseLostException(known);
            }
        }

        @Override
        public String toString() {
            String by = terms.by().isEmpty() ? "" : " by " + Names.quoted(terms.by());
            String what = released != null ? "released hold of " : loss != null ? "lost hold of " : "hold of ";
            return what + Names.quoted(name) + by + ", token " + token;
        }

        private void isLost(LeaseLostException cause) {
            loss = cause;
            callBack(terms, () -> lost.complete(cause));
        }

        private void complete(CompletableFuture<Void> result, @Nullable Throwable failure) {
            callBack(terms, () -> {
                if (failure == null) {
                    result.complete(null);
                } else {
                    result.completeExceptionally(failure);
                }
            });
        }
    }

    private void leave(Held held, CompletableFuture<Void> result, boolean mayKeep, LockState state, long now) {
        LockTenure current = held.current;
        boolean isInside = inside == held;
        inside = isInside ? null : inside;
        LeaseLostException known = held.loss;
        if (known == null && current.isOver(now)) {
            known = state.lose(current, "its lease is over", true, now);
        }
        if (known != null) {
            held.loss = known;
            // Its tenure ends when the next request continues it, or nobody wants it.
            held.complete(result, new LeaseLostException(known));
            return;
        }
        if (held.recorded != null) {
            held.recorded.run();
        }
        boolean isKeepable = mayKeep && current.isUsable(now);
        boolean isNext = isKeepable && !waiting.isEmpty() && !view.keep.isTurnOver(current, now);
        boolean isKept = isNext
                || (isKeepable
                        && current.renewed
                        && !session.isClosing()
                        && view.keep.keeps(current, !current.foreignDemand && !view.hasNeighbours(now), now));
        if (!isKept) {
            confirm(held, result, giveUp(current, false, now));
            return;
        }
        current.free();
        if (isNext) {
            recorder.handedOff();
        } else if (!current.retained) {
            state.retain(current);
        }
        if (current.looksForDemand(now, view.keep.turnNanos())) {
            current.renewNow(now, state.effects);
        }
        // Nobody depends on it yet.
        result.complete(null);
    }

    private void confirm(Held held, CompletableFuture<Void> result, ReliableRelease release) {
        release.confirmed()
                .whenComplete((released, failure) -> monitor.run((state, now) -> {
                    Throwable cause = failure == null ? null : unconfirmed(Failures.cause(failure));
                    if (released == Released.NOTHING && held.current.isOver(now)) {
                        // After the lease, nothing follows from that.
                        cause = unconfirmed(null);
                    } else if (released == Released.NOTHING) {
                        LeaseLostException loss = state.lose(held.current, LockState.OWNER_CHANGED, true, now);
                        cause = new LeaseLostException(loss);
                    }
                    held.complete(result, cause);
                }));
    }

    private RuntimeException notExtended(Throwable failure) {
        return Failures.isTransient(failure)
                ? new RedisUnavailableException(
                        "Redis has not confirmed that the lease of hold " + Names.quoted(name) + " was extended",
                        failure)
                : Failures.refusal("hold " + Names.quoted(name), failure);
    }

    private RuntimeException unconfirmed(@Nullable Throwable failure) {
        if (session.isClosed()) {
            return session.closure();
        }
        // Of the last attempt, if the lease was over before the next one.
        Throwable last = failure instanceof RedisUnavailableException ? failure.getCause() : failure;
        if (last != null && !Failures.isTransient(last)) {
            return Failures.refusal("hold " + Names.quoted(name), last);
        }
        return new RedisUnavailableException(
                "Redis has not confirmed the release of hold " + Names.quoted(name) + " before its lease was over",
                failure);
    }

    private ReliableRelease giveUp(LockTenure current, boolean isAsked, long now) {
        if (isAsked || current.demand) {
            view.keep.keptInVain();
        }
        if (current.foreignDemand) {
            view.neighboursSeen(now);
        }
        recorder.released(now - current.startNanos);
        ReliableRelease release = monitor.giveUp(current);
        monitor.hold(current, release);
        return release.insist();
    }

    /** Gives up what nobody wants. */
    private void tidy(LockState state, long now) {
        LockTenure current = view.tenure;
        if (current != null && isKept(current, now)) {
            return;
        }
        long relied = current == null ? 0 : current.reliedOnNanos(now);
        if (relied > 0) {
            lookIn(relied, state, now);
            return;
        }
        Ticket request = view.ticket;
        if (request != null) {
            state.ownership.withdraw(request, now);
        }
        if (current != null) {
            giveUp(current, false, now);
        }
    }

    private boolean isKept(LockTenure current, long now) {
        return current.retained
                && (!current.demand || view.keep.isKept(current, now))
                && current.loss() == null
                && !session.isClosing();
    }

    // What users wait for is completed once the mutex is free.

    private void complete(HoldTerms terms, Runnable outcome) {
        monitor.resource.later(() -> terms.complete(session, outcome));
    }

    private void callBack(HoldTerms terms, Runnable outcome) {
        monitor.resource.later(() -> terms.callBack(session, outcome));
    }

    // ---- what the monitor tells

    @Override
    public String name() {
        return name;
    }

    @Override
    public void changed() {
        monitor.run(this::step);
    }

    @Override
    public void demanded() {
        if (inside == null) {
            changed();
        }
    }

    @Override
    public void cleanUp() {
        changed();
    }

    @Override
    public void due() {
        monitor.run(this::step);
    }

    // A name that is idle is given up, whatever it is kept for. A name in use is not, and its turn isn't shortened.
    @Override
    public void asked(Mail.IdleQuestion question) {
        boolean isInUse = monitor.call((state, now) -> {
            LockTenure current = view.tenure;
            if (current != null && current.sequence == question.sequence()) {
                if (inside == null && waiting.isEmpty()) {
                    giveUp(current, true, now);
                }
                return view.tenure == current;
            }
            step(state, now);
            boolean isTicket = state.tickets.of(question.sequence()) != null;
            if (!isTicket) {
                state.ownership.ownedAnyway(question.sequence(), 0, now);
            }
            return isTicket;
        });
        if (isInUse) {
            monitor.scripts.answer(question, true);
        } else {
            ReliableRelease.answerOnceConfirmed(session, monitor.scripts, question);
        }
    }

    @Override
    public boolean isRelied() {
        return inside != null;
    }

    @Override
    public void lost(LeaseLostException loss) {
        session.reportLoss(loss, List.of());
        monitor.run((state, now) -> {
            Held held = inside;
            if (held != null && held.current.loss() == loss) {
                held.isLost(loss);
                if (!session.settings().waitsForLostHolders()) {
                    // It may rely on its lease until that is over.
                    held.current.abandon();
                    inside = null;
                    step(state, now);
                }
            }
        });
    }

    // ---- what the session tells

    @Override
    public boolean isInside() {
        return inside != null;
    }

    @Override
    public boolean isQueued() {
        return view.ticket != null;
    }

    @Override
    public @Nullable Renewal keep(long nowNanos) {
        LockTenure current = view.tenure;
        return current == null || !current.isToBeKept(nowNanos) ? null : monitor.keep(current);
    }

    @Override
    public void pulse() {
        monitor.run((state, now) -> {
            LockTenure current = view.tenure;
            if (current != null && current.retained && inside == null) {
                current.renewNow(now, state.effects);
            }
            if (session.outage().isTooLong() && inside == null) {
                failUntimed(now);
            }
            step(state, now);
            state.pulse(now);
        });
    }

    // Those that are timed end by themselves.
    private void failUntimed(long now) {
        List<Request<?>> failing =
                waiting.stream().filter(request -> !request.terms.isTimed()).toList();
        failing.forEach(waiting::remove);
        failing.forEach(request -> request.fail(unavailable(now - request.begunNanos)));
    }

    @Override
    public void receive(Mail mail) {
        monitor.receive(mail);
    }

    @Override
    public @Nullable Stake stake(Predicate<String> wanted) {
        return wanted.test(name) ? monitor.call((state, now) -> stake(now)) : null;
    }

    private Stake stake(long now) {
        LockTenure current = view.tenure;
        Held held = inside;
        List<Stake.Hold> holds = new ArrayList<>();
        if (held != null) {
            long age = TimeUnit.NANOSECONDS.toMillis(now - held.sinceNanos);
            holds.add(new Stake.Hold("INSIDE", held.terms.by(), 0, false, 0, held.token, age));
        } else if (current != null) {
            holds.add(Stake.Hold.nobodyInside("KEPT"));
        } else if (view.isReleasing(now)) {
            holds.add(Stake.Hold.nobodyInside("LEAVING"));
        }
        Ticket ticket = view.ticket;
        List<Stake.Wait> waits = new ArrayList<>();
        for (Request<?> request : waiting) {
            if (waits.size() == MOST_SHOWN) {
                break;
            }
            long place = waits.isEmpty() && ticket != null ? ticket.sequence : 0;
            long age = TimeUnit.NANOSECONDS.toMillis(now - request.begunNanos);
            waits.add(new Stake.Wait(request.terms.by(), 0, "", place, age));
        }
        return new Stake(name, KIND, holds, waits);
    }

    @Override
    public @Nullable String held() {
        Held held = inside;
        return held == null || held.current.isOver(session.now()) ? null : Names.quoted(name);
    }

    @Override
    public @Nullable String retire() {
        refuseAll();
        return held();
    }

    private void refuseAll() {
        monitor.run((state, now) -> {
            List<Request<?>> failing = List.copyOf(waiting);
            waiting.clear();
            failing.forEach(request -> request.fail(session.closure()));
            step(state, now);
        });
    }

    @Override
    public CompletableFuture<?> close() {
        refuseAll();
        return monitor.close();
    }

    @Override
    public String toString() {
        return "the holds of " + Names.quoted(name) + " in " + session.id();
    }
}
