package dev.interlock.internal.barrier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Locked;
import dev.interlock.internal.Names;
import dev.interlock.internal.Stake;
import dev.interlock.internal.Stake.Wait;
import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.barrier.BarrierEffect.Act;
import dev.interlock.internal.barrier.BarrierEffect.Ask;
import dev.interlock.internal.barrier.BarrierEffect.End;
import dev.interlock.internal.barrier.BarrierEffect.EndResets;
import dev.interlock.internal.barrier.BarrierEffect.Left;
import dev.interlock.internal.barrier.BarrierReply.Outcome;
import dev.interlock.internal.barrier.BarrierReply.State;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.internal.session.StateSync;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of a barrier. Each command says which generation the session takes to be the current one, and how
 * many of its threads have come to that in all; so an arrival is counted once however often it is said, and never in
 * another generation than the one it was meant for.
 *
 * <p>Each event changes the {@link BarrierState}, under the mutex, and its effects are carried out then.
 */
public final class ScriptBarrier extends StateSync {
    private static final Script MEET = Script.load("barrier/meet");

    private final String name;
    private final int parties;
    private final Consumer<ScriptBarrier> whenLeft;
    private final List<Object> keys;

    @GuardedBy("mutex")
    private final BarrierState state;

    private final Locked<BarrierState> locked;

    /** The futures on which threads wait that reset the barrier, by the numbers of the resets. */
    @GuardedBy("mutex")
    private final NavigableMap<Long, CompletableFuture<Fate>> resets = new TreeMap<>();

    /**
     * Creates the remote half.
     *
     * @param whenLeft is told when the session is no member any more
     */
    public ScriptBarrier(RedisSession session, String name, int parties, Consumer<ScriptBarrier> whenLeft) {
        super(session, Keys.prefix(session.key(name)) + "barrier");
        String prefix = Keys.prefix(session.key(name));
        this.name = name;
        this.parties = parties;
        this.whenLeft = whenLeft;
        this.state = new BarrierState(parties);
        this.locked = new Locked<>(mutex, state);
        this.keys = List.of(key, prefix + "barrier-members", prefix + "mark:barrier", prefix + "mark:barrier-end");
    }

    /** Returns the name, without the session's namespace. */
    public String name() {
        return name;
    }

    @Override
    public @Nullable Stake stake(Predicate<String> wanted) {
        if (!wanted.test(name)) {
            return null;
        }
        long now = session.now();
        return locked.call(known -> Stake.ofWaiting(
                name,
                "barrier",
                known.arrivals.stream()
                        .filter(arrival -> !arrival.hasEnded())
                        .map(arrival -> Wait.of(arrival.thread, "", now - arrival.sinceNanos))
                        .toList()));
    }

    /** Returns how many arrivals trip a generation. */
    public int parties() {
        return parties;
    }

    // ---- membership

    /** An object over this barrier has been made. Returns false if this can't be used any more. */
    public boolean attach() {
        return locked.call(BarrierState::attach);
    }

    /** Such an object isn't used any more. */
    public void detach() {
        change(BarrierState::detach);
    }

    /** Returns whether this can't be used any more. */
    public boolean hasLeft() {
        return locked.call(known -> known.left);
    }

    /** If no object over this barrier is used, has Redis know, and waits for that. */
    public void leaveIfUnheld() {
        askIf(known -> !known.left && known.isUnused());
    }

    /**
     * Returns when Redis knows this session to be a member.
     *
     * @throws IllegalArgumentException if the barrier has other parties
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    public void join() {
        askIf(known -> {
            known.otherParties = 0;
            return !known.member;
        });
        int actual = locked.call(known -> known.otherParties);
        if (actual > 0) {
            throw new IllegalArgumentException("barrier " + Names.quoted(name) + " is one of " + actual
                    + " parties; it can't be one of " + parties + " at the same time");
        }
    }

    // ---- what threads call

    /** Returns whether the current generation is broken. A round trip. */
    public boolean isBroken() {
        askIf(known -> true);
        return locked.call(known -> known.state == State.BROKEN);
    }

    /** Returns how many threads of all sessions have arrived in the current generation. A round trip. */
    public int arrived() {
        askIf(known -> true);
        return locked.call(known -> known.arrived);
    }

    private void askIf(Predicate<BarrierState> isNeeded) {
        CompletableFuture<Void> answer;
        mutex.lock();
        try {
            session.ensureOpen();
            if (!isNeeded.test(state)) {
                return;
            }
            answer = tellAndHear();
        } finally {
            mutex.unlock();
        }
        hear(answer);
    }

    private void hear(CompletableFuture<Void> answer) {
        session.await(answer);
        if (!answer.isDone()) {
            session.ensureOpen();
            throw unavailable();
        }
        if (answer.isCompletedExceptionally()) {
            throw refusal(Failures.of(answer));
        }
    }

    /**
     * Waits until all parties have arrived.
     *
     * @param action what the last one has to run, or null
     * @param timed whether the wait ends after {@code waitNanos}
     * @return the index of arrival: 0 for the last one
     * @throws RedisUnavailableException if Redis has been silent for too long; the session goes on trying to break the
     *     generation
     */
    public int await(@Nullable Runnable action, boolean timed, long waitNanos)
            throws InterruptedException, BrokenBarrierException, TimeoutException {
        long nanos = timed ? waitNanos : RemoteWait.FOREVER;
        try (RemoteWait wait = new RemoteWait(session, true, nanos, waited -> unavailable())) {
            return new BarrierSync(this, session, wait, action).pass();
        }
    }

    /**
     * Breaks the current generation if threads have arrived in it, and begins another one. Waits until the action of
     * one that trips has been run, unless it is that which calls.
     *
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    public void reset() {
        CompletableFuture<Void> answer;
        CompletableFuture<Fate> done;
        mutex.lock();
        try {
            session.ensureOpen();
            Arrival acting = state.renew(Thread.currentThread());
            done = acting == null ? begin(session.nextSequence()) : acting.end;
            answer = tellAndHear();
        } finally {
            mutex.unlock();
        }
        hear(answer);
        awaitReset(done);
    }

    @GuardedBy("mutex")
    private CompletableFuture<Fate> begin(long reset) {
        state.reset(reset);
        return resets.computeIfAbsent(reset, added -> new CompletableFuture<>());
    }

    private void awaitReset(CompletableFuture<Fate> done) {
        try (RemoteWait wait = new RemoteWait(session, false, RemoteWait.FOREVER, waited -> unavailable())) {
            wait.await(done, this);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
        if (done.join() == Fate.REFUSED) {
            throw refusal(null);
        }
        session.ensureOpen();
    }

    RedisUnavailableException unavailable() {
        return new RedisUnavailableException(
                "Redis has not answered for barrier " + Names.quoted(name),
                session.outage().cause());
    }

    IllegalStateException refusal(@Nullable Throwable cause) {
        String what = "barrier " + Names.quoted(name);
        return cause == null ? new IllegalStateException("Redis refuses " + what) : Failures.refusal(what, cause);
    }

    // ---- arrivals

    /**
     * A thread has come.
     *
     * @param isInterrupted whether it was interrupted before, and so breaks its generation
     */
    void arrive(Arrival arrival, boolean isInterrupted) {
        mutex.lock();
        try {
            session.ensureOpen();
            state.arrive(arrival, isInterrupted, lastVersion());
            tell();
            // The session may have been closed before that could see this arrival.
            if (session.isClosed()) {
                state.end(arrival, Fate.CLOSED);
                carryOut();
            }
        } finally {
            mutex.unlock();
        }
    }

    /** An event changes the state. */
    void change(Consumer<BarrierState> event) {
        mutex.lock();
        try {
            event.accept(state);
            carryOut();
        } finally {
            mutex.unlock();
        }
    }

    /** An event changes the state. The result completes when Redis has been told. */
    CompletableFuture<Void> tellOf(Consumer<BarrierState> event) {
        mutex.lock();
        try {
            event.accept(state);
            carryOut();
            return tellAndHear();
        } finally {
            mutex.unlock();
        }
    }

    // ---- commands, replies and messages

    @Override
    @GuardedBy("mutex")
    protected Call command(long version) {
        BarrierStatement statement = state.statement();
        return MEET.on(
                keys,
                session.id(),
                version,
                session.settings().leaseMillis(),
                parties,
                statement.membership(),
                statement.generation(),
                statement.arrivals(),
                statement.acts() ? 1 : 0,
                statement.wish().word,
                statement.resets(),
                statement.resetsDone());
    }

    @Override
    protected Object leasesKey() {
        return keys.get(1);
    }

    @Override
    @GuardedBy("mutex")
    protected void answered(List<Object> reply) {
        state.answered(BarrierReply.of(reply), answeredVersion());
        carryOut();
    }

    @Override
    @GuardedBy("mutex")
    protected void refused(Throwable failure) {
        state.refused(failure);
        carryOut();
    }

    @GuardedBy("mutex")
    private void carryOut() {
        for (BarrierEffect next = state.effects.poll(); next != null; next = state.effects.poll()) {
            carryOut(next);
        }
    }

    @GuardedBy("mutex")
    private void carryOut(BarrierEffect effect) {
        if (effect instanceof End end) {
            end.arrival().turn.complete(end.fate());
            end.arrival().end.complete(end.fate());
        } else if (effect instanceof Act act) {
            act.arrival().turn.complete(Fate.ACTS);
        } else if (effect instanceof EndResets end) {
            Map<Long, CompletableFuture<Fate>> ended = resets.headMap(end.last(), true);
            ended.values().forEach(done -> done.complete(end.fate()));
            ended.clear();
        } else if (effect instanceof Ask ask) {
            askIn(ask.millis());
        } else if (effect instanceof Left) {
            session.execute(() -> whenLeft.accept(this));
        } else {
            tell();
        }
    }

    @Override
    @GuardedBy("mutex")
    protected void mailed(Mail mail) {
        if (mail instanceof Mail.GenerationEnd end && !session.runner().isReplicated()) {
            state.over(end.generation(), Outcome.of(end.outcome()));
            carryOut();
        } else {
            tell();
        }
    }

    @Override
    @GuardedBy("mutex")
    protected boolean isWaiting() {
        return state.isWaiting();
    }

    @Override
    @GuardedBy("mutex")
    protected boolean isLeased() {
        return state.member && !state.left;
    }

    @Override
    @GuardedBy("mutex")
    protected CompletableFuture<?> closed() {
        state.close();
        carryOut();
        return state.mayBeKnown() ? tellAndHear() : CompletableFuture.completedFuture(null);
    }

    @Override
    @GuardedBy("mutex")
    protected String description() {
        return state.toString();
    }
}
