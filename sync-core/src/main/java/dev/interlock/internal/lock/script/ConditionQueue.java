package dev.interlock.internal.lock.script;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.ConditionWaiter.Outcome;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.WaiterReply;
import dev.interlock.internal.lock.script.LockScripts.WaiterState;
import dev.interlock.internal.redis.Mail;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a session that wait for conditions of a lock, and what its tenure has to do with these conditions.
 *
 * <p>Who waits and who signals has the lock. So nobody else can do either while a session owns it, and Redis needn't
 * know before the tenure ends: what is to be done is written down, and goes with the release. As long as nobody waits
 * of whom Redis knows, signals to threads of the same session need no Redis at all. Otherwise Redis picks the one that
 * has waited longest, and signals are sent ahead if the tenure goes on for other threads. They are numbered, and done
 * once.
 *
 * <p>Whoever is signalled in Redis has a ticket in the queue of the lock at once, and mostly hears of it only by its
 * grant. Whoever wants to leave, because its time is over or it was interrupted, leaves in Redis, which so decides
 * between that and a signal. A message that is lost is found out by asking for the waiter of each condition that is the
 * oldest: if it still waits, all others do.
 *
 * <p>Nothing may get lost with a signal. If a tenure, or a ticket, ends in any other way than by its own release,
 * scripts signal all waiters of all conditions. So does a session that hears of a signal for nobody.
 *
 * <p>Guarded by the mutex of the claim: what threads call takes it, what events call has it.
 */
final class ConditionQueue implements CommandLoop.Speaker<ConditionQueue.Answer> {
    /** What a tenure has to do; a waiter's registration, unless it is a signal. */
    private record Operation(String text, @Nullable ConditionWaiter waiter) {}

    /**
     * What Redis has answered.
     *
     * @param gone of what it was told that nobody waits with it
     * @param isSignalLost whether it was told that a signal has reached nobody
     */
    record Answer(List<String> gone, boolean isSignalLost, List<WaiterReply> replies) {}

    private static final int MAX_GHOSTS = 10_000;

    /** A release that has not been confirmed after so long is no reason to put off what leaves. */
    private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RedisSession session;
    private final LockScripts scripts;
    private final boolean fair;
    private final Correspondence claim;
    private final ReentrantLock mutex;

    /** By sequence, oldest first. */
    private final Map<Long, ConditionWaiter> waiting = new LinkedHashMap<>();

    /** What the tenure has to do, and Redis has not confirmed. */
    private final List<Operation> log = new ArrayList<>();

    /** The number of the first of them. */
    private long first = 1;

    /** Whether there are signals among them that were not sent. */
    private volatile boolean isAnySignalDue;

    /** How many are done with waiting, or about to be, and have not got to the local half yet. */
    private final AtomicInteger arriving = new AtomicInteger();

    private final CommandLoop<Answer> loop;

    /** Whether to ask for all, since some are over that were the oldest. */
    private boolean asksForAll;

    /** What nobody waits with any more, though Redis may think so. */
    private final List<String> gone = new ArrayList<>();

    /** Who was given up before Redis had heard of it, and may hear of it yet. */
    private final Set<Long> ghosts = new HashSet<>();

    /** Who was found to be over before the message came that would have told so, with its ticket; and when. */
    private final Map<Long, Long> told = new HashMap<>();

    private boolean isSignalLost;

    /** Who was the last to be done with waiting. */
    private @Nullable ConditionWaiter last;

    /** Releases under way that have something to do with conditions, and since when that has been so. */
    private int releasing;

    private long releasingSinceNanos;

    ConditionQueue(RedisSession session, LockScripts scripts, boolean fair, Correspondence claim, ReentrantLock mutex) {
        this.session = session;
        this.scripts = scripts;
        this.fair = fair;
        this.claim = claim;
        this.mutex = mutex;
        this.loop = new CommandLoop<>(session, mutex, this);
    }

    /** Returns whether anybody waits. Redis may then make tickets of which this session doesn't know. */
    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Returns whether nobody waits, and there is nothing to remember. */
    boolean isIdle() {
        return waiting.isEmpty() && told.isEmpty() && gone.isEmpty() && !isSignalLost && !isAnyArriving();
    }

    /** Returns whether threads are about to queue for the local half. Needs no mutex. */
    boolean isAnyArriving() {
        return arriving.get() > 0;
    }

    /** A waiter has the local half again; or it can't have the remote half, and its signal has to go to others. */
    void arrived(ConditionWaiter waiter, boolean isLost) {
        locked(() -> {
            hasArrived(waiter, isLost);
            claim.settle();
        });
    }

    private void hasArrived(ConditionWaiter waiter, boolean isLost) {
        waiter.isThrough = true;
        waiter.successor = null;
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
    }

    private void locked(Runnable action) {
        mutex.lock();
        try {
            action.run();
        } finally {
            mutex.unlock();
        }
    }

    private void arrives(ConditionWaiter waiter) {
        if (!waiter.isArriving) {
            waiter.isArriving = true;
            arriving.incrementAndGet();
        }
    }

    // ---- what threads do that have the lock

    /** Has the current thread wait for a condition, as soon as it has given up the tenure. */
    ConditionWaiter enlist(LockTenure current, String condition) {
        mutex.lock();
        try {
            session.ensureOpen();
            ConditionWaiter waiter = waiter(current, condition);
            waiting.put(waiter.sequence, waiter);
            log.add(new Operation((fair ? "f" : "w") + waiter.text, waiter));
            return waiter;
        } finally {
            mutex.unlock();
        }
    }

    private ConditionWaiter waiter(LockTenure current, String condition) {
        Ticket ticket = current.ticket;
        return new ConditionWaiter(
                Thread.currentThread(),
                condition,
                session.nextSequence(),
                current.renewed ? RemoteLock.RENEWED : ticket.leaseMillis,
                ticket.grantMillis(),
                current.tokens.remotePart(),
                current.awaits++,
                session.now());
    }

    /** Signals the waiter that has waited longest, or all. */
    void signal(LockTenure current, String condition, boolean all) {
        locked(() -> note(current, condition, all));
    }

    private void note(LockTenure current, String condition, boolean all) {
        if (current.awaited) {
            log.add(new Operation((all ? "a" : "s") + condition, null));
            isAnySignalDue = true;
            return;
        }
        List<ConditionWaiter> signalled = locally(condition);
        for (ConditionWaiter waiter : all ? signalled : signalled.subList(0, Math.min(1, signalled.size()))) {
            log.removeIf(operation -> operation.waiter == waiter);
            over(waiter, Outcome.SIGNALLED, 0, 0);
        }
    }

    private List<ConditionWaiter> locally(String condition) {
        return waiting.values().stream()
                .filter(waiter -> !waiter.isRegistered && waiter.condition.equals(condition))
                .toList();
    }

    /** Returns who waits for a condition once all signals of this tenure are done, asking Redis if need be. */
    CompletableFuture<SignalReply> look(LockTenure current, String condition, boolean isListed) {
        mutex.lock();
        try {
            if (current.awaited) {
                return send(current, condition, isListed);
            }
            Set<Long> own =
                    locally(condition).stream().map(waiter -> waiter.sequence).collect(Collectors.toSet());
            return CompletableFuture.completedFuture(new SignalReply(true, false, false, own.size(), own));
        } finally {
            mutex.unlock();
        }
    }

    /** Returns the threads of these waiters. */
    Collection<Thread> threads(Set<Long> sequences) {
        mutex.lock();
        try {
            return waiting.values().stream()
                    .filter(waiter -> sequences.contains(waiter.sequence))
                    .map(waiter -> waiter.thread)
                    .toList();
        } finally {
            mutex.unlock();
        }
    }

    /** The tenure goes on without the thread that has signalled: sends its signals ahead. */
    void flush(LockTenure current) {
        locked(() -> {
            if (isAnySignalDue) {
                send(current, "", false);
            }
        });
    }

    /** Returns whether there are signals that were not sent. Needs no mutex. */
    boolean isAnySignalDue() {
        return isAnySignalDue;
    }

    @CanIgnoreReturnValue
    private CompletableFuture<SignalReply> send(LockTenure current, String condition, boolean isListed) {
        Operations operations = operations();
        long last = first + log.size() - 1;
        isAnySignalDue = false;
        CompletableFuture<SignalReply> reply = scripts.signal(current.sequence, operations, condition, isListed);
        reply.whenComplete((signalled, failure) -> claim.signalled(current, last, signalled));
        return reply;
    }

    private Operations operations() {
        long now = session.now();
        for (Operation operation : log) {
            ConditionWaiter waiter = operation.waiter;
            if (waiter != null && !waiter.isRegistered) {
                waiter.isRegistered = true;
                waiter.waitsAt(now);
            }
        }
        return new Operations(first, log.stream().map(Operation::text).collect(Collectors.joining(" ")));
    }

    /** Takes note that operations are done; or that it isn't known, and they have to be sent again. */
    void done(LockTenure current, long last, @Nullable SignalReply signalled) {
        if (signalled == null || !signalled.owned()) {
            isAnySignalDue = log.stream().anyMatch(operation -> operation.waiter == null);
            return;
        }
        for (; first <= last && !log.isEmpty(); first++) {
            ConditionWaiter waiter = log.remove(0).waiter;
            if (waiter != null) {
                waiter.isConfirmed = true;
            }
        }
        if (log.isEmpty() && last == first - 1) {
            current.awaited = signalled.conditions();
        }
        flush(current);
        askForLeavers();
    }

    /** The tenure is over; another one continues it, or what this returns is done by its release. */
    Operations drain() {
        if (log.isEmpty()) {
            begin();
            return Operations.NONE;
        }
        Operations operations = operations();
        log.clear();
        begin();
        releasing++;
        releasingSinceNanos = session.now();
        return operations;
    }

    /** A tenure begins, by whose numbers those operations count that are still to be done. */
    void begin() {
        first = 1;
        isAnySignalDue = log.stream().anyMatch(operation -> operation.waiter == null);
    }

    /**
     * What a tenure had to do won't be done, if there is anything: who was to wait doesn't, and all others are
     * signalled.
     */
    void abandonOperations() {
        if (log.isEmpty()) {
            return;
        }
        List<ConditionWaiter> unsent = unsent();
        isSignalLost = true;
        log.clear();
        begin();
        for (ConditionWaiter waiter : unsent) {
            over(waiter, Outcome.SIGNALLED, 0, 0);
        }
        ask();
    }

    /** Returns who is to be registered by what {@link #drain} returns. */
    List<ConditionWaiter> unsent() {
        List<ConditionWaiter> unsent = new ArrayList<>();
        for (Operation operation : log) {
            if (operation.waiter != null) {
                unsent.add(operation.waiter);
            }
        }
        return unsent;
    }

    /** A release has brought word of those to be registered with it, or none. */
    void released(
            List<ConditionWaiter> registered,
            LockScripts.@Nullable Released released,
            @Nullable ConditionWaiter leaver) {
        releasing--;
        for (ConditionWaiter waiter : registered) {
            if (released == LockScripts.Released.NOTHING) {
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

    // Those who had to wait for what is confirmed now.
    private void askForLeavers() {
        if (isSignalLost || !gone.isEmpty() || waiting.values().stream().anyMatch(waiter -> waiter.isLeaving)) {
            ask();
        }
    }

    // ---- what threads do that wait

    /** Has a thread leave the condition, unless it has been signalled. */
    void leave(ConditionWaiter waiter) {
        locked(() -> leaves(waiter));
    }

    private void leaves(ConditionWaiter waiter) {
        if (waiter.outcome != null) {
            return;
        }
        if (waiter.isRegistered) {
            waiter.isLeaving = true;
            arrives(waiter);
            LockTenure current = claim.tenure();
            if (current != null) {
                // What was signalled before comes first.
                flush(current);
            }
            ask();
        } else {
            log.removeIf(operation -> operation.waiter == waiter);
            over(waiter, Outcome.LEFT, 0, 0);
        }
    }

    /** The thread doesn't wait for an answer any more. Returns false if there is one. */
    boolean abandon(ConditionWaiter waiter) {
        locked(() -> {
            giveUp(waiter);
            claim.settle();
        });
        return waiter.outcome == null;
    }

    private void giveUp(ConditionWaiter waiter) {
        if (waiting.remove(waiter.sequence) != null) {
            log.removeIf(operation -> operation.waiter == waiter && !waiter.isRegistered);
            if (waiter.isRegistered) {
                gone.add(waiter.text);
                mayComeBack(waiter);
                ask();
            }
        }
    }

    private void mayComeBack(ConditionWaiter waiter) {
        if (ghosts.size() >= MAX_GHOSTS) {
            ghosts.clear();
        }
        ghosts.add(waiter.sequence);
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
        boolean isSignalling = isSignalling(now);
        Set<String> oldest = new HashSet<>();
        List<String> asked = new ArrayList<>();
        List<String> leaving = new ArrayList<>();
        for (ConditionWaiter waiter : waiting.values()) {
            boolean isKnown = waiter.isConfirmed
                    || (waiter.isRegistered
                            && now - waiter.waitingNanos() >= session.settings().silenceNanos());
            if (isKnown && waiter.isLeaving) {
                if (!isSignalling) {
                    leaving.add(waiter.text);
                }
            } else if (isKnown && (oldest.add(waiter.condition) || asksForAll)) {
                asked.add(waiter.text);
            }
        }
        if (asked.isEmpty() && leaving.isEmpty() && gone.isEmpty() && !isSignalLost) {
            return null;
        }
        List<String> wereGone = List.copyOf(gone);
        boolean wasLost = isSignalLost;
        return scripts.await(
                        String.join(" ", asked),
                        String.join(" ", leaving),
                        String.join(" ", wereGone),
                        wasLost,
                        claim.floor())
                .thenApply(replies -> new Answer(wereGone, wasLost, replies));
    }

    // Whether signals are on their way: who leaves does so after them.
    private boolean isSignalling(long now) {
        boolean isReleasing = releasing > 0 && now - releasingSinceNanos < RELEASE_NANOS;
        return isReleasing || log.stream().anyMatch(operation -> operation.waiter == null);
    }

    /** Returns whether operations may be undone of a tenure that is over. */
    boolean isReleasing() {
        return releasing > 0;
    }

    /** Asks if nobody else has done so for a while. */
    void askIfDue() {
        locked(() -> {
            if (session.now() - loop.sentNanos() >= TicketRequest.POLL_NANOS) {
                beat();
            }
        });
    }

    @Override
    public void answered(long sentNanos, Answer answer) {
        claim.heard();
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
        boolean isMissing = waiting.values().stream().anyMatch(waiter -> waiter.isLeaving && waiter.isConfirmed)
                && !isSignalling(session.now());
        asksForAll = isAnyOver;
        if (isAnyOver || isMissing || isSignalLost) {
            ask();
        }
    }

    @Override
    public void refused(Throwable cause) {
        // The pulse asks again.
    }

    @Override
    public void settled() {
        claim.settle();
    }

    @Override
    public void changed() {
        claim.changed();
    }

    // The oldest has been found waiting; so were all that had begun to wait before the command was sent.
    private void stillWait(String condition, long sentNanos) {
        for (ConditionWaiter waiter : waiting.values()) {
            if (waiter.isConfirmed && waiter.condition.equals(condition)) {
                waiter.waitsAt(sentNanos);
            }
        }
    }

    /** Takes the news of waiters that queue for the lock now; negative if they weren't signalled. */
    void admitted(Mail.Admission admission) {
        admission.waiters().forEach(one -> admitted(one.waiter(), one.ticket()));
    }

    /** A waiter queues for the lock now. */
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
            claim.cancelUnwanted(ticket, number, told.remove(Math.abs(number)) == null);
        } else if (told.remove(Math.abs(number)) == null && number > 0 && ghosts.remove(number)) {
            isSignalLost = true;
            ask();
        }
    }

    private void over(ConditionWaiter waiter, Outcome outcome, long ticket, long number) {
        if (waiting.remove(waiter.sequence) == null) {
            return;
        }
        if (waiter.isConfirmed && ticket == 0) {
            told.put(waiter.sequence, session.now());
        } else if (waiter.isRegistered && ticket == 0) {
            mayComeBack(waiter);
        }
        arrives(waiter);
        if (ticket != 0) {
            claim.adopt(waiter, ticket, number);
        } else if (fair && outcome != Outcome.CLOSED) {
            claim.place(waiter);
        }
        ConditionWaiter ahead = last;
        if (ahead != null && !ahead.isThrough) {
            waiter.predecessor = ahead;
            ahead.successor = waiter;
        }
        last = waiter;
        waiter.outcome = outcome;
        if (waiter.predecessor == null || waiter.predecessor.isLiningUp) {
            waiter.wake();
        }
    }

    /** The thread queues for the local half now; then the next one shall. Returns whom it has to let go first. */
    @Nullable
    ConditionWaiter linesUp(ConditionWaiter waiter) {
        mutex.lock();
        try {
            waiter.isLiningUp = true;
            if (waiter.successor != null) {
                waiter.successor.wake();
            }
            ConditionWaiter ahead = waiter.predecessor;
            waiter.predecessor = null;
            return ahead;
        } finally {
            mutex.unlock();
        }
    }

    /** Ends all waits, because the session is closed. */
    CompletableFuture<?> close() {
        boolean isAnyLost = isAnyArriving();
        List<ConditionWaiter> all = List.copyOf(waiting.values());
        for (ConditionWaiter waiter : all) {
            over(waiter, Outcome.CLOSED, 0, 0);
        }
        log.removeIf(operation -> operation.waiter != null && !operation.waiter.isRegistered);
        String texts = all.stream()
                .filter(waiter -> waiter.isRegistered)
                .map(waiter -> waiter.text)
                .collect(Collectors.joining(" "));
        return texts.isEmpty() && !isAnyLost
                ? CompletableFuture.completedFuture(null)
                : scripts.await("", "", texts, isAnyLost, claim.floor());
    }
}
