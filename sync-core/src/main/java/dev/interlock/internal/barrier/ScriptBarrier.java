package dev.interlock.internal.barrier;

import dev.interlock.RedisUnavailableException;
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
 * <p>Each event changes the {@link BarrierState}, and its effects are carried out then.
 */
public final class ScriptBarrier extends StateSync<BarrierState> {
    private static final Script MEET = Script.load("barrier/meet");

    private final String name;
    private final int parties;
    private final Consumer<ScriptBarrier> whenLeft;
    private final List<Object> keys;

    /** The futures on which threads wait that reset the barrier, by the numbers of the resets; used in events only. */
    private final NavigableMap<Long, CompletableFuture<Fate>> resets = new TreeMap<>();

    /**
     * Creates the remote half.
     *
     * @param whenLeft is told when the session is no member any more
     */
    public ScriptBarrier(RedisSession session, String name, int parties, Consumer<ScriptBarrier> whenLeft) {
        super(session, Keys.prefix(session.key(name)) + "barrier", newLease(session), new BarrierState(parties));
        String prefix = Keys.prefix(session.key(name));
        this.name = name;
        this.parties = parties;
        this.whenLeft = whenLeft;
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
        return resource.call((known, now) -> Stake.ofWaiting(
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
        return resource.call((known, now) -> known.attach());
    }

    /** Such an object isn't used any more. */
    public void detach() {
        change(BarrierState::detach);
    }

    /** Returns whether this can't be used any more. */
    public boolean hasLeft() {
        return resource.call((known, now) -> known.left);
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
        int actual = resource.call((known, now) -> known.otherParties);
        if (actual > 0) {
            throw new IllegalArgumentException("barrier " + Names.quoted(name) + " is one of " + actual
                    + " parties; it can't be one of " + parties + " at the same time");
        }
    }

    // ---- what threads call

    /** Returns whether the current generation is broken. A round trip. */
    public boolean isBroken() {
        askIf(known -> true);
        return resource.call((known, now) -> known.state == State.BROKEN);
    }

    /** Returns how many threads of all sessions have arrived in the current generation. A round trip. */
    public int arrived() {
        askIf(known -> true);
        return resource.call((known, now) -> known.arrived);
    }

    private void askIf(Predicate<BarrierState> isNeeded) {
        CompletableFuture<Void> answer = resource.<@Nullable CompletableFuture<Void>>call((known, now) -> {
            session.ensureOpen();
            return isNeeded.test(known) ? tellAndHear() : null;
        });
        if (answer != null) {
            hear(answer);
        }
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
        record Reset(CompletableFuture<Void> answer, CompletableFuture<Fate> done) {}
        Reset begun = resource.call((known, now) -> {
            session.ensureOpen();
            Arrival acting = known.renew(Thread.currentThread());
            CompletableFuture<Fate> done = acting == null ? begin(known, session.nextSequence()) : acting.end;
            return new Reset(tellAndHear(), done);
        });
        hear(begun.answer);
        awaitReset(begun.done);
    }

    private CompletableFuture<Fate> begin(BarrierState known, long reset) {
        known.reset(reset);
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
        resource.run((known, now) -> {
            session.ensureOpen();
            known.arrive(arrival, isInterrupted, lastVersion());
            tell();
            // The session may have been closed before that could see this arrival.
            if (session.isClosed()) {
                known.end(arrival, Fate.CLOSED);
            }
        });
    }

    /** An event changes the state. */
    void change(Consumer<BarrierState> event) {
        resource.run((known, now) -> event.accept(known));
    }

    /** An event changes the state. The result completes when Redis has been told. */
    CompletableFuture<Void> tellOf(Consumer<BarrierState> event) {
        return resource.call((known, now) -> {
            event.accept(known);
            carryOut(known, now);
            return tellAndHear();
        });
    }

    // ---- commands, replies and messages

    @Override
    protected Call command(BarrierState known, long version) {
        BarrierStatement statement = known.statement();
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
    protected void answered(BarrierState known, List<Object> reply) {
        known.answered(BarrierReply.of(reply), answeredVersion());
    }

    @Override
    protected boolean refused(BarrierState known, Throwable failure) {
        return known.refused(failure);
    }

    @Override
    public void carryOut(BarrierState known, long now) {
        for (BarrierEffect next = known.effects.poll(); next != null; next = known.effects.poll()) {
            carryOut(next);
        }
    }

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
    protected void mailed(BarrierState known, Mail mail) {
        if (mail instanceof Mail.GenerationEnd end && !session.runner().isReplicated()) {
            known.over(end.generation(), Outcome.of(end.outcome()));
        } else {
            tell();
        }
    }

    @Override
    protected boolean isWaiting(BarrierState known) {
        return known.isWaiting();
    }

    @Override
    protected boolean isLeased(BarrierState known) {
        return known.member && !known.left;
    }

    @Override
    protected CompletableFuture<?> closed(BarrierState known) {
        known.close();
        carryOut(known, session.now());
        return known.mayBeKnown() ? tellAndHear() : CompletableFuture.completedFuture(null);
    }

    @Override
    protected String description(BarrierState known) {
        return known.toString();
    }
}
