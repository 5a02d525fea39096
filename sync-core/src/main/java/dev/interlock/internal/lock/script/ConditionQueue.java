package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.script.ConditionWaiter.Outcome;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.WaiterReply;
import dev.interlock.internal.lock.script.LockScripts.WaiterState;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a session that wait for conditions of a lock, and the command that asks Redis how they stand.
 *
 * <p>Awaiting and signalling both require the lock, so a session logs them locally, as {@link ConditionOperations}, and
 * ships them with the release. As long as Redis knows of no waiters, signals to threads of the same session need no
 * Redis at all. Otherwise Redis picks the waiter that has waited longest.
 *
 * <p>A waiter that is signalled in Redis has a ticket in the queue of the lock at once, and mostly hears of it only by
 * its grant. A waiter that leaves, because its time is over or it was interrupted, leaves in Redis, which so decides
 * between that and a signal. A message that is lost is found out by asking for the oldest waiter of each condition: if
 * it still waits, all others do.
 *
 * <p>No signal gets lost. If a tenure, or a ticket, ends in any other way than by its own release, scripts signal all
 * waiters of all conditions. So does a session that hears of a signal for a waiter that it doesn't have.
 *
 * <p>The owner calls it with the mutex held, except for what is volatile or atomic.
 */
final class ConditionQueue implements CommandLoop.Speaker<ConditionQueue.Answer> {
    private static final int MAX_GHOSTS = 10_000;

    /**
     * What Redis has answered.
     *
     * @param gone what it was told to be gone
     * @param isSignalLost whether it was told that a signal has reached nobody
     */
    record Answer(List<String> gone, boolean isSignalLost, List<WaiterReply> replies) {}

    private final LockMonitor.Shared shared;
    private final RedisSession session;
    private final LockState state;
    private final TicketRequest request;
    private final ConditionOperations operations;
    private final CommandLoop<Answer> loop;

    /** By sequence, oldest first. */
    private final Map<Long, ConditionWaiter> waiting = new LinkedHashMap<>();

    /** How many are done with waiting, or about to be, and don't have the local half yet. */
    private final AtomicInteger arriving = new AtomicInteger();

    /** Whether to ask for all, since some are over that were the oldest. */
    private boolean asksForAll;

    /** Waiters without a thread that Redis may know. */
    private final List<String> gone = new ArrayList<>();

    /** Waiters that were given up before Redis had confirmed them, and that it may yet get to know. */
    private final Set<Long> ghosts = new HashSet<>();

    /** Waiters that were found to be over before the message came that would have told so; and when. */
    private final Map<Long, Long> told = new HashMap<>();

    private boolean isSignalLost;

    /** The last waiter that was done with waiting. */
    private @Nullable ConditionWaiter last;

    ConditionQueue(LockMonitor.Shared shared, TicketRequest request) {
        this.shared = shared;
        this.session = shared.session();
        this.state = shared.state();
        this.request = request;
        this.operations = new ConditionOperations(shared, this::askForLeavers);
        this.loop = new CommandLoop<>(session, shared.mutex(), this);
    }

    ConditionOperations operations() {
        return operations;
    }

    /** Returns whether no thread waits. If some do, Redis may make tickets of which this session doesn't know. */
    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Returns whether no thread waits, and there is nothing to remember. */
    boolean isIdle() {
        return waiting.isEmpty() && told.isEmpty() && gone.isEmpty() && !isSignalLost && !isAnyArriving();
    }

    /** Returns whether threads are about to queue for the local half. Needs no mutex. */
    boolean isAnyArriving() {
        return arriving.get() > 0;
    }

    // ---- threads that have the lock

    /** Has the current thread wait for a condition, as soon as it has given up the tenure. */
    ConditionWaiter enlist(LockTenure current, String condition) {
        session.ensureOpen();
        var waiter = new ConditionWaiter(condition, session.nextSequence(), current, session.now());
        current.awaits++;
        waiting.put(waiter.sequence, waiter);
        operations.register(waiter, state.fair);
        return waiter;
    }

    /** Signals the waiter that has waited longest, or all. */
    void signal(LockTenure current, String condition, boolean all) {
        if (current.awaited) {
            operations.signal(condition, all);
            return;
        }
        List<ConditionWaiter> signalled = unregistered(condition);
        for (ConditionWaiter waiter : all ? signalled : signalled.subList(0, Math.min(1, signalled.size()))) {
            operations.remove(waiter);
            over(waiter, Outcome.SIGNALLED, 0, 0);
        }
    }

    private List<ConditionWaiter> unregistered(String condition) {
        return waiting.values().stream()
                .filter(waiter -> !waiter.isRegistered && waiter.condition.equals(condition))
                .toList();
    }

    /** Returns how many wait for a condition once all signals of this tenure are done, asking Redis if need be. */
    CompletableFuture<SignalReply> inspect(LockTenure current, String condition, boolean isListed) {
        if (current.awaited) {
            return operations.send(current, condition, isListed);
        }
        Set<Long> own =
                unregistered(condition).stream().map(waiter -> waiter.sequence).collect(Collectors.toSet());
        return CompletableFuture.completedFuture(new SignalReply(true, false, false, own.size(), own));
    }

    /** Returns the threads of these waiters. */
    Collection<Thread> threads(Set<Long> sequences) {
        return waiting.values().stream()
                .filter(waiter -> sequences.contains(waiter.sequence))
                .map(waiter -> waiter.thread)
                .toList();
    }

    // ---- the end of a tenure

    /**
     * What a tenure had to do won't be done, if there is anything: those that were to be registered don't wait, and all
     * others are signalled.
     */
    void abandonOperations() {
        if (operations.isEmpty()) {
            return;
        }
        List<ConditionWaiter> unsent = operations.unsent();
        isSignalLost = true;
        operations.clear();
        for (ConditionWaiter waiter : unsent) {
            over(waiter, Outcome.SIGNALLED, 0, 0);
        }
        ask();
    }

    /** A release has brought word of those to be registered with it, or none. */
    void released(List<ConditionWaiter> registered, @Nullable Released released, @Nullable ConditionWaiter leaver) {
        operations.released();
        for (ConditionWaiter waiter : registered) {
            if (released == Released.NOTHING) {
                over(waiter, waiter == leaver ? Outcome.LOST : Outcome.SIGNALLED, 0, 0);
            } else {
                waiter.isConfirmed |= released != null;
                if (ghosts.contains(waiter.sequence)) {
                    // What was said of it before may have come before it.
                    gone.add(waiter.text);
                }
            }
        }
        askForLeavers();
    }

    /** Asks for those that had to wait for operations which are confirmed now. */
    private void askForLeavers() {
        if (isSignalLost || !gone.isEmpty() || waiting.values().stream().anyMatch(waiter -> waiter.isLeaving)) {
            ask();
        }
    }

    // ---- threads that wait

    /** Has a thread leave the condition, unless it has been signalled. */
    void leave(ConditionWaiter waiter) {
        if (waiter.outcome != null) {
            return;
        }
        if (!waiter.isRegistered) {
            operations.remove(waiter);
            over(waiter, Outcome.LEFT, 0, 0);
            return;
        }
        waiter.isLeaving = true;
        arrives(waiter);
        LockTenure current = state.tenure();
        if (current != null) {
            // What was signalled before comes first.
            operations.flush(current);
        }
        ask();
    }

    /** The thread doesn't wait for an answer any more. Returns false if there is one. */
    boolean abandon(ConditionWaiter waiter) {
        boolean isWaiting = waiting.remove(waiter.sequence) != null;
        if (isWaiting && waiter.isRegistered) {
            gone.add(waiter.text);
            mayComeBack(waiter);
            ask();
        } else if (isWaiting) {
            operations.remove(waiter);
        }
        request.settle();
        return waiter.outcome == null;
    }

    private void mayComeBack(ConditionWaiter waiter) {
        if (ghosts.size() >= MAX_GHOSTS) {
            ghosts.clear();
        }
        ghosts.add(waiter.sequence);
    }

    /** A waiter has the local half again; or it can't have the remote half, and its signal has to go to others. */
    void arrived(ConditionWaiter waiter, boolean isLost) {
        waiter.arrived();
        if (last == waiter) {
            last = null;
        }
        if (waiter.isArriving) {
            waiter.isArriving = false;
            arriving.decrementAndGet();
        }
        if (isLost && waiter.outcome == Outcome.SIGNALLED) {
            isSignalLost = true;
            ask();
        }
        request.settle();
    }

    private void arrives(ConditionWaiter waiter) {
        if (!waiter.isArriving) {
            waiter.isArriving = true;
            arriving.incrementAndGet();
        }
    }

    // ---- what Redis says

    /** Asks how the waiters stand: now, or as soon as the command in flight has been answered. */
    private void ask() {
        forgetTold();
        loop.tell();
    }

    /** Asks, unless a command is in flight that may yet be answered. */
    void beat() {
        forgetTold();
        loop.beat(true);
    }

    /** Asks if nothing was asked for a while. */
    void askIfDue() {
        if (session.now() - loop.sentNanos() >= TicketRequest.POLL_NANOS) {
            beat();
        }
    }

    private void forgetTold() {
        long now = session.now();
        told.values().removeIf(nanos -> now - nanos >= session.settings().silenceNanos());
    }

    @Override
    public @Nullable CompletableFuture<Answer> say(long now) {
        if (waiting.isEmpty() && gone.isEmpty() && !isSignalLost) {
            // As it is with most locks, of which there may be thousands.
            return null;
        }
        boolean isSignalling = operations.isSignalling(now);
        Set<String> oldest = new HashSet<>();
        List<String> asked = new ArrayList<>();
        List<String> leaving = new ArrayList<>();
        for (ConditionWaiter waiter : waiting.values()) {
            if (!waiter.isKnown(now, session.settings().silenceNanos())) {
                continue;
            }
            if (!waiter.isLeaving) {
                if (oldest.add(waiter.condition) || asksForAll) {
                    asked.add(waiter.text);
                }
            } else if (!isSignalling) {
                leaving.add(waiter.text);
            }
        }
        if (asked.isEmpty() && leaving.isEmpty() && gone.isEmpty() && !isSignalLost) {
            return null;
        }
        List<String> wereGone = List.copyOf(gone);
        boolean wasLost = isSignalLost;
        return shared.scripts()
                .await(
                        String.join(" ", asked),
                        String.join(" ", leaving),
                        String.join(" ", wereGone),
                        wasLost,
                        state.floor())
                .thenApply(replies -> new Answer(wereGone, wasLost, replies));
    }

    @Override
    public void answered(long sentNanos, Answer answer) {
        state.heard(session.now());
        gone.removeAll(answer.gone);
        isSignalLost &= !answer.isSignalLost;
        boolean isAnyOver = false;
        for (WaiterReply reply : answer.replies) {
            ConditionWaiter waiter = waiting.get(reply.waiter());
            boolean isSignalled = reply.state() == WaiterState.SIGNALLED;
            long number = isSignalled ? reply.waiter() : -reply.waiter();
            if (waiter == null) {
                unwanted(number, reply.ticket());
            } else if (reply.state() == WaiterState.WAITING) {
                stillWait(waiter.condition, sentNanos);
            } else {
                isAnyOver |= isSignalled;
                over(waiter, isSignalled ? Outcome.SIGNALLED : Outcome.LEFT, reply.ticket(), number);
            }
        }
        boolean isMissing = !operations.isSignalling(session.now())
                && waiting.values().stream().anyMatch(waiter -> waiter.isLeaving && waiter.isConfirmed);
        asksForAll = isAnyOver;
        if (isAnyOver || isMissing || isSignalLost) {
            ask();
        }
    }

    // The oldest has been found waiting; so were all that had begun to wait before the command was sent.
    private void stillWait(String condition, long sentNanos) {
        for (ConditionWaiter waiter : waiting.values()) {
            if (waiter.isConfirmed && waiter.condition.equals(condition)) {
                waiter.waitsAt(sentNanos);
            }
        }
    }

    @Override
    public void refused(Throwable cause) {
        // The pulse asks again.
    }

    @Override
    public void settled() {
        request.settle();
    }

    @Override
    public void changed() {
        shared.owner().changed();
    }

    /** A waiter queues for the lock now; negative if it wasn't signalled. */
    void admitted(long number, long ticket) {
        ConditionWaiter waiter = waiting.get(Math.abs(number));
        if (waiter == null) {
            unwanted(number, ticket);
        } else {
            over(waiter, number > 0 ? Outcome.SIGNALLED : Outcome.LEFT, ticket, number);
        }
    }

    private void unwanted(long number, long ticket) {
        if (ticket != 0) {
            request.cancelUnwanted(ticket, number, told.remove(Math.abs(number)) == null);
        } else if (told.remove(Math.abs(number)) == null && number > 0) {
            ghosts.remove(number);
            isSignalLost = true;
            ask();
        }
    }

    private void over(ConditionWaiter waiter, Outcome outcome, long ticket, long number) {
        if (waiting.remove(waiter.sequence) == null) {
            return;
        }
        // Of one that ends with its session Redis may yet say that it was signalled.
        if (waiter.isConfirmed && ticket == 0 && outcome != Outcome.CLOSED) {
            told.put(waiter.sequence, session.now());
        } else if (waiter.isRegistered && ticket == 0) {
            mayComeBack(waiter);
        }
        arrives(waiter);
        if (ticket != 0) {
            request.adopt(waiter, ticket, number);
        } else if (state.fair && outcome != Outcome.CLOSED) {
            request.place(waiter);
        }
        waiter.end(outcome, last);
        last = waiter;
    }

    /** Ends all waits, because the session is closed. */
    CompletableFuture<?> close() {
        boolean isAnyLost = isAnyArriving();
        List<ConditionWaiter> all = List.copyOf(waiting.values());
        for (ConditionWaiter waiter : all) {
            over(waiter, Outcome.CLOSED, 0, 0);
        }
        operations.removeUnregistered();
        String texts = all.stream()
                .filter(waiter -> waiter.isRegistered)
                .map(waiter -> waiter.text)
                .collect(Collectors.joining(" "));
        return texts.isEmpty() && !isAnyLost
                ? CompletableFuture.completedFuture(null)
                : shared.scripts().await("", "", texts, isAnyLost, state.floor());
    }
}
