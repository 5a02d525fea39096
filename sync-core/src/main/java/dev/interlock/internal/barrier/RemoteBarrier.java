package dev.interlock.internal.barrier;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Exchange;
import dev.interlock.internal.Keys;
import dev.interlock.internal.Mailbox.Message;
import dev.interlock.internal.Script;
import dev.interlock.internal.Script.Call;
import dev.interlock.internal.Session;
import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.barrier.Standing.Outcome;
import dev.interlock.internal.barrier.Standing.State;
import dev.interlock.internal.barrier.Standing.Status;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a session and Redis tell each other about one barrier. Every command says which generation the session takes to be the
 * current one, and how many of its threads have come to that in all; so an arrival is counted once however often it is said,
 * and never in another generation than the one it was meant for.
 *
 * <p>Threads are counted in the order of {@link #arrivals}. Those at its front have been counted in {@link #generation}; when
 * that is over they go, and the others come to the next one. That it is over may come by a message, but only an answer says
 * how many were counted: so a message ends only what has been answered for, and has the session ask if there is more.
 *
 * <p>The session is a member for as long as anybody refers to an object over this one, or threads wait. What
 * {@link #command} says has all that follows from that, whatever got lost before.
 */
public final class RemoteBarrier extends Exchange {
    private static final Script MEET = Script.load("barrier/meet");
    private static final long PULSE_MILLIS = 1_000;

    private enum Wish {
        NONE,
        BREAK,
        ACTED,
        FAILED,
        RENEW;

        private final String word = name().toLowerCase(Locale.ROOT);
    }

    private record Reset(long number, CompletableFuture<Fate> done) {}

    private final String name;
    private final int parties;
    private final List<Object> keys;
    private final Consumer<RemoteBarrier> whenLeft;

    /** Who has come and not gone, in the order of arrival; those who have gone stay until it's known how many were counted. */
    private final List<Arrival> arrivals = new ArrayList<>();

    /** Who was interrupted before: comes only to break the generation. */
    private final List<Arrival> breakers = new ArrayList<>();

    /** Who wants the generation broken, in the order in which they have come to that. */
    private final List<Arrival> leavers = new ArrayList<>();

    private final List<Reset> pendingResets = new ArrayList<>();

    /** The generation that {@link #arrivals} are in. */
    private long generation;

    /** The last generation whose arrivals have gone. */
    private long settled;

    private State state = State.OPEN;
    private int arrived;

    /** What became of the action that a thread of this session has run. */
    private Wish acted = Wish.NONE;

    /** Who runs the action. */
    private @Nullable Arrival actor;

    private long resets;
    private long resetsDone;
    private int holders;

    /** Whether Redis may know of this session. */
    private boolean told;

    private boolean member;

    /** Whether Redis has forgotten this session, which is to be told that. */
    private boolean forgotten;

    private boolean left;
    private boolean closed;
    private int otherParties;
    private long askNanos;
    private boolean asking;

    /**
     * Creates the remote half.
     *
     * @param whenLeft is told when the session is no member any more
     */
    public RemoteBarrier(Session session, String name, int parties, Consumer<RemoteBarrier> whenLeft) {
        super(session, Keys.of("barrier", session.key(name)));
        String plain = session.key(name);
        this.name = name;
        this.parties = parties;
        this.whenLeft = whenLeft;
        this.keys = List.of(
                key,
                Keys.of("barrier-members", plain),
                Keys.of("mark:barrier", plain),
                Keys.of("mark:barrier-end", plain));
    }

    /** Returns the name, without the session's namespace. */
    public String name() {
        return name;
    }

    /** Returns how many arrivals trip a generation. */
    public int parties() {
        return parties;
    }

    /** An object over this one has been made. Returns false if this can't be used any more. */
    public boolean attach() {
        mutex.lock();
        try {
            if (left) {
                return false;
            }
            holders++;
            return true;
        } finally {
            mutex.unlock();
        }
    }

    /** Returns whether this can't be used any more. */
    public boolean hasLeft() {
        mutex.lock();
        try {
            return left;
        } finally {
            mutex.unlock();
        }
    }

    /** If nobody refers to an object over this one, returns when Redis knows. */
    public void leaveIfUnheld() {
        CompletableFuture<Void> answer;
        mutex.lock();
        try {
            session.ensureOpen();
            if (left || !isUnused()) {
                return;
            }
            answer = tellAndHear();
        } finally {
            mutex.unlock();
        }
        hear(answer);
    }

    /** Nobody refers to such an object any more. */
    public void detach() {
        mutex.lock();
        try {
            holders--;
            leaveIfUnused();
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Returns when Redis knows this session to be a member.
     *
     * @throws IllegalArgumentException if the barrier has other parties
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    public void join() {
        CompletableFuture<Void> answer;
        mutex.lock();
        try {
            session.ensureOpen();
            if (member) {
                return;
            }
            otherParties = 0;
            answer = tellAndHear();
        } finally {
            mutex.unlock();
        }
        hear(answer);
        mutex.lock();
        try {
            if (otherParties > 0) {
                throw new IllegalArgumentException("barrier '" + name + "' is one of " + otherParties
                        + " parties; it can't be one of " + parties + " at the same time");
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Returns whether the current generation is broken. A round trip. */
    public boolean isBroken() {
        hear(ask());
        mutex.lock();
        try {
            return state == State.BROKEN;
        } finally {
            mutex.unlock();
        }
    }

    /** Returns how many threads of all sessions have arrived in the current generation. A round trip. */
    public int arrived() {
        hear(ask());
        mutex.lock();
        try {
            return arrived;
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Waits until all parties have arrived.
     *
     * @param action what the last one has to run, or null
     * @param timed whether the wait ends after {@code waitNanos}
     * @return the index of arrival: 0 for the last one
     * @throws RedisUnavailableException if Redis has been silent for too long; the session goes on trying to break the generation
     */
    public int await(@Nullable Runnable action, boolean timed, long waitNanos)
            throws InterruptedException, BrokenBarrierException, TimeoutException {
        return new Stay(this, action, timed, waitNanos).pass();
    }

    private CompletableFuture<Void> ask() {
        mutex.lock();
        try {
            session.ensureOpen();
            return tellAndHear();
        } finally {
            mutex.unlock();
        }
    }

    private void hear(CompletableFuture<Void> answer) {
        try {
            Uninterruptibles.getUninterruptibly(
                    answer, session.settings().commandTimeoutMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw refusal(e.getCause());
        } catch (TimeoutException e) {
            session.ensureOpen();
            throw unavailable();
        }
    }

    RedisUnavailableException unavailable() {
        return new RedisUnavailableException(
                "Redis has not answered for barrier '" + name + "'",
                session.outage().cause());
    }

    IllegalStateException refusal(@Nullable Throwable cause) {
        return new IllegalStateException("Redis refuses what barrier '" + name + "' asks", cause);
    }

    Session session() {
        return session;
    }

    /** A thread has come. */
    void arrive(Arrival arrival) {
        come(arrival, arrivals);
    }

    /** A thread has come that was interrupted before. */
    void comeToBreak(Arrival arrival) {
        arrival.leaves = true;
        come(arrival, breakers);
    }

    private void come(Arrival arrival, List<Arrival> to) {
        mutex.lock();
        try {
            session.ensureOpen();
            to.add(arrival);
            if (arrival.leaves) {
                leavers.add(arrival);
            }
            tell();
            // It may have been closed before it could see this.
            if (session.isClosed()) {
                arrival.end(Fate.CLOSED);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** A thread wants its generation broken, unless it has tripped. The result completes when Redis has been told. */
    CompletableFuture<Void> leave(Arrival arrival) {
        mutex.lock();
        try {
            if (!arrival.leaves) {
                arrival.leaves = true;
                leavers.add(arrival);
            }
            return tellAndHear();
        } finally {
            mutex.unlock();
        }
    }

    /** A thread goes without knowing how its generation ends. The session goes on trying to break that. */
    void abandon(Arrival arrival) {
        mutex.lock();
        try {
            if (arrival.hasEnded()) {
                return;
            }
            arrival.abandoned = true;
            if (!arrival.leaves) {
                arrival.leaves = true;
                leavers.add(arrival);
            }
            if (arrival == actor && acted == Wish.NONE) {
                acted = Wish.FAILED;
            }
            tell();
        } finally {
            mutex.unlock();
        }
    }

    /** The thread that had to has run the action. The result completes when Redis has been told. */
    CompletableFuture<Void> acted(Arrival arrival, boolean completed) {
        mutex.lock();
        try {
            if (arrival == actor && !arrival.hasEnded()) {
                acted = completed ? Wish.ACTED : Wish.FAILED;
            }
            return tellAndHear();
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Breaks the current generation if threads have arrived in it, and begins another one. Waits until the action of one that
     * trips has been run, unless it is that which calls.
     *
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    public void reset() {
        CompletableFuture<Void> answer;
        CompletableFuture<Fate> done;
        mutex.lock();
        try {
            session.ensureOpen();
            Arrival acting = actor;
            if (acting != null && acting.thread == Thread.currentThread() && !acting.hasEnded()) {
                acting.renewed = true;
                acted = Wish.RENEW;
                done = acting.end;
            } else {
                resets = session.nextSequence();
                done = new CompletableFuture<>();
                pendingResets.add(new Reset(resets, done));
            }
            answer = tellAndHear();
        } finally {
            mutex.unlock();
        }
        hear(answer);
        awaitReset(done);
    }

    private void awaitReset(CompletableFuture<Fate> done) {
        while (true) {
            try {
                if (Uninterruptibles.getUninterruptibly(done, PULSE_MILLIS, TimeUnit.MILLISECONDS) == Fate.REFUSED) {
                    throw refusal(null);
                }
                session.ensureOpen();
                return;
            } catch (TimeoutException e) {
                session.ensureOpen();
                if (session.outage().isTooLong()) {
                    throw unavailable();
                }
            } catch (ExecutionException e) {
                throw refusal(e.getCause());
            }
        }
    }

    private boolean isUnused() {
        return holders == 0
                && arrivals.stream().allMatch(Arrival::hasEnded)
                && breakers.isEmpty()
                && pendingResets.isEmpty();
    }

    private void leaveIfUnused() {
        if (!left && isUnused()) {
            if (told) {
                tell();
            } else {
                left = true;
                session.execute(() -> whenLeft.accept(this));
            }
        }
    }

    @Override
    protected Call command(long version) {
        String membership;
        if (closed || isUnused()) {
            membership = "leave";
        } else if (member) {
            membership = "stay";
        } else {
            membership = forgotten ? "rejoin" : "join";
        }
        told = true;
        Wish wish = acted;
        if (wish == Wish.NONE && leavers.stream().anyMatch(leaver -> !leaver.hasEnded())) {
            wish = Wish.BREAK;
        }
        boolean acts = arrivals.stream().anyMatch(arrival -> arrival.acts && !arrival.hasEnded());
        return MEET.on(
                keys,
                session.id(),
                version,
                session.settings().leaseMillis(),
                parties,
                membership,
                generation,
                arrivals.size(),
                acts ? 1 : 0,
                wish.word,
                resets,
                resetsDone);
    }

    @Override
    protected void answered(List<Object> reply) {
        Standing standing = Standing.of(reply);
        if (standing.status() == Status.LEFT) {
            member = false;
            if (closed || isUnused()) {
                left = true;
                session.execute(() -> whenLeft.accept(this));
            } else {
                tell();
            }
            return;
        }
        if (standing.status() == Status.OTHER_PARTIES) {
            otherParties = (int) standing.generation();
            forget();
            pendingResets.forEach(reset -> reset.done.complete(Fate.REFUSED));
            pendingResets.clear();
            return;
        }
        settle(standing);
        resetsDone = Math.max(resetsDone, standing.resets());
        endResets();
        if (standing.status() == Status.FORGOTTEN) {
            forget();
            forgotten = true;
            if (!closed) {
                tell();
            }
            return;
        }
        member = true;
        forgotten = false;
        adopt(standing);
        leaveIfUnused();
    }

    private void endResets() {
        for (Iterator<Reset> all = pendingResets.iterator(); all.hasNext(); ) {
            Reset reset = all.next();
            if (reset.number <= resetsDone) {
                reset.done.complete(Fate.TRIPPED);
                all.remove();
            }
        }
    }

    /** Whoever waits has been in a generation that Redis doesn't know of any more. */
    private void forget() {
        member = false;
        state = State.BROKEN;
        arrived = 0;
        endAll(arrivals, Fate.BROKEN);
        endAll(breakers, Fate.BROKEN);
        leavers.clear();
        generation = 0;
        settled = 0;
        acted = Wish.NONE;
        actor = null;
    }

    private static void endAll(List<Arrival> all, Fate fate) {
        all.forEach(arrival -> arrival.end(fate));
        all.clear();
    }

    /** Ends those who have been counted in the generation that they are in, if that is over. */
    private void settle(Standing standing) {
        if (standing.counted() != generation || generation == settled) {
            return;
        }
        int counted = Math.min(standing.places().length(), arrivals.size());
        for (int i = 0; i < counted; i++) {
            arrivals.get(i).place = standing.places().get(i);
        }
        if (standing.outcome() != Outcome.NONE) {
            settle(standing.outcome(), counted);
        }
    }

    private void settle(Outcome outcome, int counted) {
        settled = generation;
        acted = Wish.NONE;
        actor = null;
        if (outcome == Outcome.BROKEN_HERE) {
            leavers.stream()
                    .filter(leaver -> !leaver.hasEnded())
                    .findFirst()
                    .ifPresent(first -> first.end(Fate.BREAKER));
        }
        endAll(arrivals.subList(0, counted), outcome == Outcome.TRIPPED ? Fate.TRIPPED : Fate.BROKEN);
        removeEnded();
    }

    private void removeEnded() {
        leavers.removeIf(Arrival::hasEnded);
        breakers.removeIf(Arrival::hasEnded);
        arrivals.removeIf(arrival -> arrival.place == 0 && arrival.hasEnded());
    }

    /** Takes what is so in the current generation. */
    private void adopt(Standing standing) {
        if (standing.generation() < generation) {
            return;
        }
        state = standing.state();
        arrived = standing.arrived();
        if (standing.generation() > generation) {
            move(standing.generation());
        }
        if (state == State.BROKEN) {
            breakRest();
        } else if (state == State.TRIPPING_HERE && actor == null && generation != settled) {
            act();
        }
        if (isWaiting() && standing.dueMillis() >= 0 && standing.dueMillis() < PULSE_MILLIS) {
            askAt(standing.dueMillis() + 1);
        }
    }

    private void move(long to) {
        // Whoever was counted before, and has not been ended by the record of that, has been lost.
        endAll(
                arrivals.subList(0, (int)
                        arrivals.stream().filter(arrival -> arrival.place > 0).count()),
                Fate.BROKEN);
        removeEnded();
        generation = to;
        acted = Wish.NONE;
        actor = null;
        if (!arrivals.isEmpty() || !breakers.isEmpty()) {
            tell();
        }
    }

    /** Whoever hasn't been counted has come to a broken generation. */
    private void breakRest() {
        endAll(arrivals, Fate.BROKEN);
        endAll(breakers, Fate.BROKEN);
        leavers.clear();
        settled = generation;
    }

    private void act() {
        for (Arrival arrival : arrivals) {
            if (arrival.place == parties) {
                actor = arrival;
                if (arrival.abandoned) {
                    acted = Wish.FAILED;
                    tell();
                } else {
                    arrival.act();
                }
            }
        }
    }

    private void askAt(long millis) {
        long now = session.now();
        long at = now + TimeUnit.MILLISECONDS.toNanos(millis);
        if (asking && askNanos - at <= 0 && askNanos - now > 0) {
            return;
        }
        asking = true;
        askNanos = at;
        askIn(millis);
    }

    @Override
    public void receive(Message message) {
        mutex.lock();
        try {
            if (message.kind() != 't' || session.runner().isReplicated()) {
                tell();
                return;
            }
            long over = message.numbers().get(0);
            Outcome outcome = Outcome.of(message.numbers().get(1));
            if (over == generation && generation != settled && outcome != Outcome.NONE) {
                int counted = (int)
                        arrivals.stream().filter(arrival -> arrival.place > 0).count();
                if (counted == arrivals.size() && counted > 0) {
                    settle(outcome, counted);
                    arrived = 0;
                    if (outcome == Outcome.TRIPPED) {
                        generation++;
                        state = State.OPEN;
                    } else {
                        state = State.BROKEN;
                    }
                } else {
                    // The others may have been counted as well. Those who go now stay in the list until that's known.
                    Fate fate = outcome == Outcome.TRIPPED ? Fate.TRIPPED : Fate.BROKEN;
                    arrivals.subList(0, counted).forEach(arrival -> arrival.end(fate));
                }
            }
            if (isWaiting()) {
                tell();
            }
            leaveIfUnused();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    protected void refused(Throwable failure) {
        for (List<Arrival> all : List.of(arrivals, breakers)) {
            all.forEach(arrival -> {
                arrival.failure = failure;
                arrival.end(Fate.REFUSED);
            });
        }
        pendingResets.forEach(reset -> reset.done.complete(Fate.REFUSED));
        pendingResets.clear();
        breakers.clear();
        leavers.clear();
        // Those who have been refused may have been counted all the same; what is unknown is to be broken.
        forget();
        forgotten = true;
    }

    @Override
    protected boolean isWaiting() {
        return !arrivals.isEmpty() || !breakers.isEmpty() || !pendingResets.isEmpty() || (told && !left && isUnused());
    }

    @Override
    protected boolean isLeased() {
        return member && !left;
    }

    @Override
    public CompletableFuture<?> close() {
        mutex.lock();
        try {
            closed = true;
            for (Reset reset : pendingResets) {
                reset.done.complete(Fate.CLOSED);
            }
            pendingResets.clear();
            endAll(arrivals, Fate.CLOSED);
            endAll(breakers, Fate.CLOSED);
            leavers.clear();
            return told && !left ? tellAndHear() : CompletableFuture.completedFuture(null);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public String toString() {
        mutex.lock();
        try {
            return "generation " + generation + ", " + state + ", " + arrivals.size() + " threads of this session";
        } finally {
            mutex.unlock();
        }
    }
}
