package dev.interlock.internal.barrier;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.barrier.Standing.Outcome;
import dev.interlock.internal.barrier.Standing.State;
import dev.interlock.internal.barrier.Standing.Status;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.StateSync;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a session and Redis tell each other about one barrier. Every command says which generation the session takes to
 * be the current one, and how many of its threads have come to that in all; so an arrival is counted once however often
 * it is said, and never in another generation than the one it was meant for.
 *
 * <p>Threads are counted in the order of {@link #arrivals}. Those at its front have been counted in
 * {@link #generation}; when that is over they go, and the others come to the next one. That it is over may come by a
 * message, but only an answer says how many were counted: so a message ends only what has been answered for, and has
 * the session ask if there is more.
 *
 * <p>The session is a member for as long as anybody refers to an object over this one, or threads wait. What
 * {@link #command} says has all that follows from that, whatever got lost before.
 */
abstract class Attendance extends StateSync {
    private static final Script MEET = Script.load("barrier/meet");
    static final long PULSE_MILLIS = 1_000;

    enum Wish {
        NONE,
        BREAK,
        ACTED,
        FAILED,
        RENEW;

        private final String word = name().toLowerCase(Locale.ROOT);
    }

    record Reset(long number, CompletableFuture<Fate> done) {}

    final String name;
    final int parties;
    private final List<Object> keys;

    /**
     * Who has come and not gone, in the order of arrival; those who have gone stay until it's known how many were
     * counted.
     */
    final List<Arrival> arrivals = new ArrayList<>();

    /** Who was interrupted before: comes only to break the generation. */
    final List<Arrival> breakers = new ArrayList<>();

    /** Who wants the generation broken, in the order in which they have come to that. */
    final List<Arrival> leavers = new ArrayList<>();

    final List<Reset> pendingResets = new ArrayList<>();

    /** The generation that {@link #arrivals} are in. */
    long generation;

    /** The last generation whose arrivals have gone. */
    private long settled;

    State state = State.OPEN;
    int arrived;

    /** What became of the action that a thread of this session has run. */
    Wish acted = Wish.NONE;

    /** Who runs the action. */
    @Nullable
    Arrival actor;

    long resets;
    private long resetsDone;
    int holders;

    /** Whether Redis may know of this session. */
    boolean told;

    boolean member;

    /** Whether Redis has forgotten this session, which is to be told that. */
    private boolean forgotten;

    boolean left;
    boolean closed;
    int otherParties;
    private long askNanos;
    private boolean asking;

    Attendance(RedisSession session, String name, int parties) {
        super(session, Keys.prefix(session.key(name)) + "barrier");
        String prefix = Keys.prefix(session.key(name));
        this.name = name;
        this.parties = parties;
        this.keys = List.of(key, prefix + "barrier-members", prefix + "mark:barrier", prefix + "mark:barrier-end");
    }

    /** Called when the session is no member any more. */
    abstract void ended();

    RedisUnavailableException unavailable() {
        return new RedisUnavailableException(
                "Redis has not answered for barrier " + Keys.quoted(name),
                session.outage().cause());
    }

    IllegalStateException refusal(@Nullable Throwable cause) {
        String what = "barrier " + Keys.quoted(name);
        return cause == null ? new IllegalStateException("Redis refuses " + what) : Failures.refusal(what, cause);
    }

    boolean isUnused() {
        return holders == 0
                && arrivals.stream().allMatch(Arrival::hasEnded)
                && breakers.isEmpty()
                && pendingResets.isEmpty();
    }

    void leaveIfUnused() {
        if (!left && isUnused()) {
            if (told) {
                tell();
            } else {
                left = true;
                session.execute(this::ended);
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
                session.execute(this::ended);
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

    /**
     * Whoever hasn't been counted has come to a broken generation, apart from those whom the command that was answered
     * didn't tell of: the barrier may have been reset before they came.
     */
    private void breakRest() {
        breakKnown(arrivals);
        breakKnown(breakers);
        leavers.removeIf(Arrival::hasEnded);
        settled = generation;
    }

    private void breakKnown(List<Arrival> all) {
        List<Arrival> known = all.stream()
                .filter(arrival -> arrival.cameAfter < answeredVersion())
                .toList();
        known.forEach(arrival -> arrival.end(Fate.BROKEN));
        all.removeAll(known);
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
    public void receive(Mail mail) {
        mutex.lock();
        try {
            if (!(mail instanceof Mail.GenerationEnd end) || session.runner().isReplicated()) {
                tell();
                return;
            }
            long over = end.generation();
            Outcome outcome = Outcome.of(end.outcome());
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
}
