package dev.interlock.internal.barrier;

import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.barrier.BarrierEffect.Act;
import dev.interlock.internal.barrier.BarrierEffect.Ask;
import dev.interlock.internal.barrier.BarrierEffect.End;
import dev.interlock.internal.barrier.BarrierEffect.EndResets;
import dev.interlock.internal.barrier.BarrierEffect.Left;
import dev.interlock.internal.barrier.BarrierEffect.Tell;
import dev.interlock.internal.barrier.BarrierReply.Outcome;
import dev.interlock.internal.barrier.BarrierReply.State;
import dev.interlock.internal.barrier.BarrierReply.Status;
import dev.interlock.internal.barrier.BarrierStatement.Wish;
import dev.interlock.internal.session.Effects;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A session's view of one barrier. Threads, replies and messages are events that change it, and have
 * {@linkplain BarrierEffect effects} that the owner carries out after each of them. It knows no session, thread or
 * clock, and is used with the owner's mutex only.
 *
 * <p>Threads are counted in the order of {@link #arrivals}. Those at its front have been counted in
 * {@link #generation}; when that is over they leave, and the others come to the next one. A message may tell that it is
 * over, but only a reply says how many were counted: so a message ends only those that a reply has counted, and has the
 * session ask if there are more.
 *
 * <p>The session is a member for as long as objects over this barrier are in use, or threads wait. The
 * {@link #statement} says all that follows from that, whatever was lost before.
 */
final class BarrierState {
    /** A reply that is due later than that is left to the pulse. */
    private static final long PULSE_MILLIS = 1_000;

    private final int parties;

    /**
     * Threads in the order of arrival, first those that were counted. Those that have gone stay until it is known how
     * many were.
     */
    final List<Arrival> arrivals = new ArrayList<>();

    /** Threads that were interrupted before: they come only to break the generation. */
    private final List<Arrival> breakers = new ArrayList<>();

    /** Threads that want the generation broken, in the order in which they came to want that. */
    private final List<Arrival> leavers = new ArrayList<>();

    /** The number of the last reset by a thread of this session. Numbers only grow. */
    private long lastReset;

    /** The last one that Redis has done. */
    private long lastResetDone;

    /** The last one whose thread waits no more, whatever has become of it. */
    private long lastResetEnded;

    /** The generation that {@link #arrivals} are in; 0 as long as Redis hasn't named one. */
    private long generation;

    /**
     * The last generation whose arrivals have gone: the current one, if that is known to be over, or an earlier one.
     */
    private long settled;

    /** That of the current generation, as last heard. */
    State state = State.OPEN;

    /** How many threads of all sessions have arrived in the current generation, as last heard. */
    int arrived;

    /** The outcome of this generation's action that Redis has yet to hear; or that Redis has lost the generation. */
    private Wish acted = Wish.NONE;

    /** The thread that has to run the action of this generation, once Redis has said that it is this session's. */
    private @Nullable Arrival actor;

    /** How many objects over this barrier are in use. */
    private int holders;

    /** Whether Redis may know of this session, since a command was sent. It remains so. */
    private boolean told;

    /** Whether Redis has last answered that the session is a member. */
    boolean member;

    /** Whether Redis has forgotten this session, and has to be told so. It isn't a member then. */
    private boolean forgotten;

    /** Whether the session is no member any more, and won't be one again. */
    boolean left;

    /** Whether the session is closed, which it remains. */
    private boolean closed;

    /** How many parties the barrier has, if Redis has refused this number; else 0. */
    int otherParties;

    /** The steps that the owner has yet to take. */
    final Effects<BarrierEffect> effects = new Effects<>();

    BarrierState(int parties) {
        this.parties = parties;
    }

    // ---- membership

    /** An object over this barrier has been made. Returns false if this can't be used any more. */
    boolean attach() {
        holders += left ? 0 : 1;
        return !left;
    }

    /** Such an object isn't used any more. */
    void detach() {
        holders--;
        assert holders >= 0 : holders;
        leaveIfUnused();
    }

    boolean isUnused() {
        return holders == 0 && arrivals.stream().allMatch(Arrival::hasEnded) && breakers.isEmpty() && !isResetting();
    }

    private boolean isResetting() {
        return lastReset > lastResetEnded;
    }

    private void leaveIfUnused() {
        if (!left && isUnused()) {
            if (told) {
                effects.add(new Tell());
            } else {
                dropOut();
            }
        }
    }

    private void dropOut() {
        left = true;
        effects.add(new Left());
    }

    /** Returns whether Redis may count this session as a member. */
    boolean mayBeKnown() {
        return told && !left;
    }

    boolean isWaiting() {
        return !arrivals.isEmpty() || !breakers.isEmpty() || isResetting() || (mayBeKnown() && isUnused());
    }

    // ---- threads

    /**
     * A thread comes; one that {@linkplain Arrival#leaves leaves} at once asks for the breakage unless it trips.
     *
     * @param breaks whether it was interrupted before, and comes only to break the generation
     */
    void arrive(Arrival arrival, boolean breaks, long lastVersion) {
        arrival.cameAfter = lastVersion;
        arrival.follows =
                leavers.stream().filter(Arrival::awaitsBreakage).findFirst().orElse(null);
        arrival.leaves |= breaks;
        (breaks ? breakers : arrivals).add(arrival);
        if (arrival.leaves) {
            leavers.add(arrival);
        }
    }

    /** A thread wants its generation broken, unless it has tripped. */
    void leave(Arrival arrival) {
        if (!arrival.leaves) {
            arrival.leaves = true;
            leavers.add(arrival);
        }
    }

    /** It is known what becomes of a thread, unless it was before. */
    void end(Arrival arrival, Fate fate) {
        if (!arrival.hasEnded()) {
            arrival.fate = fate;
            effects.add(new End(arrival, fate));
        }
    }

    /** A thread goes without knowing how its generation ends. The session goes on trying to break that. */
    void abandon(Arrival arrival) {
        if (arrival.hasEnded()) {
            return;
        }
        arrival.isAbandoned = true;
        leave(arrival);
        if (arrival == actor && acted == Wish.NONE) {
            acted = Wish.FAILED;
        }
        effects.add(new Tell());
    }

    /** The thread that had to has run the action. */
    void acted(Arrival arrival, boolean completed) {
        if (arrival == actor && !arrival.hasEnded()) {
            acted = completed ? Wish.ACTED : Wish.FAILED;
        }
    }

    /** The action of this thread resets the barrier. Returns its arrival, or null if the thread runs none. */
    @Nullable
    Arrival renew(Thread thread) {
        Arrival acting = actor;
        if (acting == null || acting.thread != thread || acting.hasEnded()) {
            return null;
        }
        acting.renewed = true;
        acted = Wish.RENEW;
        return acting;
    }

    /** A thread resets the barrier. */
    void reset(long number) {
        lastReset = number;
    }

    // ---- commands and their replies

    /** Returns what a command has to say that is sent now. */
    BarrierStatement statement() {
        told = true;
        Wish wish = acted;
        if (wish == Wish.NONE && leavers.stream().anyMatch(leaver -> !leaver.hasEnded())) {
            wish = Wish.BREAK;
        }
        // Nobody comes to a generation that is known to be broken, even if Redis has lost that.
        List<Arrival> here = generation == settled
                ? List.of()
                : arrivals.stream().takeWhile(Arrival::mayBeTold).toList();
        boolean acts = here.stream().anyMatch(arrival -> arrival.acts && !arrival.hasEnded());
        return new BarrierStatement(membership(), generation, here.size(), acts, wish, lastReset, lastResetDone);
    }

    private String membership() {
        if (closed || isUnused()) {
            return "leave";
        }
        if (member) {
            return "stay";
        }
        return forgotten ? "rejoin" : "join";
    }

    /** Redis has answered the command of this version. */
    void answered(BarrierReply reply, long version) {
        if (reply.status() == Status.LEFT) {
            member = false;
            if (closed || isUnused()) {
                dropOut();
            } else {
                effects.add(new Tell());
            }
            return;
        }
        if (reply.status() == Status.OTHER_PARTIES) {
            otherParties = (int) reply.generation();
            forget();
            endResets(lastReset, Fate.REFUSED);
            return;
        }
        settle(reply);
        lastResetDone = Math.max(lastResetDone, reply.resets());
        endResets(lastResetDone, Fate.TRIPPED);
        if (reply.status() == Status.FORGOTTEN) {
            forget();
            forgotten = true;
            if (!closed) {
                effects.add(new Tell());
            }
            return;
        }
        member = true;
        forgotten = false;
        adopt(reply, version);
        leaveIfUnused();
        assert isConsistent() : this;
    }

    private boolean isConsistent() {
        boolean isCountedFirst = arrivals.stream().limit(counted()).allMatch(arrival -> arrival.place > 0);
        return isCountedFirst && settled <= generation;
    }

    /** Threads that wait have been in a generation that Redis doesn't know any more. */
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

    private void endAll(List<Arrival> all, Fate fate) {
        all.forEach(arrival -> end(arrival, fate));
        all.clear();
    }

    private void endResets(long last, Fate fate) {
        if (last > lastResetEnded) {
            lastResetEnded = last;
            effects.add(new EndResets(last, fate));
        }
    }

    /** Ends the arrivals that were counted in the generation that they are in, if that is over. */
    private void settle(BarrierReply reply) {
        if (reply.counted() != generation || generation == settled) {
            return;
        }
        int counted = Math.min(reply.places().length(), arrivals.size());
        for (int i = 0; i < counted; i++) {
            arrivals.get(i).place = reply.places().get(i);
        }
        if (reply.outcome() != Outcome.NONE) {
            settle(reply.outcome(), counted);
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
                    .ifPresent(first -> end(first, Fate.BREAKER));
        }
        endAll(arrivals.subList(0, counted), fate(outcome));
        removeEnded();
    }

    private static Fate fate(Outcome outcome) {
        return outcome == Outcome.TRIPPED ? Fate.TRIPPED : Fate.BROKEN;
    }

    private void removeEnded() {
        leavers.removeIf(Arrival::hasEnded);
        breakers.removeIf(Arrival::hasEnded);
        arrivals.removeIf(arrival -> arrival.place == 0 && arrival.hasEnded());
    }

    /** Takes the state of the current generation. */
    private void adopt(BarrierReply reply, long version) {
        if (reply.generation() < generation) {
            return;
        }
        state = reply.state();
        arrived = reply.arrived();
        if (reply.generation() > generation) {
            move(reply.generation());
        }
        if (state == State.BROKEN) {
            acted = Wish.NONE;
            breakRest(version);
        } else if (state == State.OPEN && generation == settled) {
            // It was broken, and Redis has lost that.
            acted = Wish.BREAK;
            effects.add(new Tell());
        } else if (state == State.TRIPPING_HERE && actor == null && generation != settled) {
            act();
        } else if (state == State.TRIPPING_HERE && generation == settled && acted == Wish.NONE) {
            // It was broken, and Redis has lost that: it is broken again, since nobody knows who has gone.
            acted = Wish.FAILED;
            effects.add(new Tell());
        }
        if (isWaiting() && reply.dueMillis() >= 0 && reply.dueMillis() < PULSE_MILLIS) {
            effects.add(new Ask(reply.dueMillis() + 1));
        }
    }

    private void move(long to) {
        // Arrivals that were counted before, and not ended by the record of that, have been lost.
        endAll(arrivals.subList(0, counted()), Fate.BROKEN);
        removeEnded();
        generation = to;
        acted = Wish.NONE;
        actor = null;
        if (!arrivals.isEmpty() || !breakers.isEmpty()) {
            effects.add(new Tell());
        }
    }

    private int counted() {
        return (int) arrivals.stream().filter(arrival -> arrival.place > 0).count();
    }

    /**
     * Arrivals that weren't counted have come to a broken generation, apart from those that the command which was
     * answered didn't tell of: the barrier may have been reset before they came.
     */
    private void breakRest(long version) {
        breakKnown(arrivals, version);
        breakKnown(breakers, version);
        leavers.removeIf(Arrival::hasEnded);
        settled = generation;
    }

    private void breakKnown(List<Arrival> all, long version) {
        List<Arrival> known =
                all.stream().filter(arrival -> arrival.cameAfter < version).toList();
        known.forEach(arrival -> end(arrival, Fate.BROKEN));
        all.removeAll(known);
    }

    private void act() {
        arrivals.stream().filter(arrival -> arrival.place == parties).forEach(last -> {
            actor = last;
            if (last.isAbandoned) {
                acted = Wish.FAILED;
                effects.add(new Tell());
            } else {
                effects.add(new Act(last));
            }
        });
    }

    // ---- other events

    /** A message tells that a generation is over. */
    void over(long over, Outcome outcome) {
        if (over == generation && generation != settled && outcome != Outcome.NONE) {
            int counted = counted();
            if (counted == arrivals.size() && counted > 0) {
                settle(outcome, counted);
                arrived = 0;
                boolean hasTripped = outcome == Outcome.TRIPPED;
                state = hasTripped ? State.OPEN : State.BROKEN;
                generation += hasTripped ? 1 : 0;
            } else {
                // The others may have been counted as well. Arrivals that end now stay until that is known.
                arrivals.subList(0, counted).forEach(arrival -> end(arrival, fate(outcome)));
            }
        }
        if (isWaiting()) {
            effects.add(new Tell());
        }
        leaveIfUnused();
        assert isConsistent() : this;
    }

    /** Redis refuses what it is told. */
    boolean refused(Throwable failure) {
        boolean isThrown = Stream.concat(arrivals.stream(), breakers.stream()).anyMatch(arrival -> !arrival.hasEnded());
        Stream.concat(arrivals.stream(), breakers.stream()).forEach(arrival -> {
            arrival.failure = failure;
            end(arrival, Fate.REFUSED);
        });
        endResets(lastReset, Fate.REFUSED);
        // Those that have been refused may have been counted all the same; what is unknown is to be broken.
        forget();
        forgotten = true;
        return isThrown;
    }

    /** The session is closed. */
    void close() {
        closed = true;
        endResets(lastReset, Fate.CLOSED);
        endAll(arrivals, Fate.CLOSED);
        endAll(breakers, Fate.CLOSED);
        leavers.clear();
    }

    @Override
    public String toString() {
        return "generation " + generation + ", " + state + ", " + arrivals.size() + " threads of this session";
    }
}
