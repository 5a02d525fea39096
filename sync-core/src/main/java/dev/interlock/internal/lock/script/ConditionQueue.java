package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.TicketQueue.MOST_ASKED;

import com.google.common.collect.Lists;
import dev.interlock.internal.Stake;
import dev.interlock.internal.lock.script.LockEffect.Plain;
import dev.interlock.internal.lock.script.LockEffect.Signal;
import dev.interlock.internal.lock.script.LockEffect.WakeWaiter;
import dev.interlock.internal.lock.script.LockScripts.Inquiry;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.Signals;
import dev.interlock.internal.lock.script.LockScripts.WaiterReply;
import dev.interlock.internal.lock.script.LockScripts.WaiterState;
import dev.interlock.internal.lock.script.Waiter.Outcome;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Effects;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a session that wait for conditions of a lock: a part of the {@link LockState}, which events change in
 * the same way.
 *
 * <p>Awaiting and signalling both require the lock, so a session logs them locally, in a {@link ConditionLog}, and
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
 */
final class ConditionQueue {
    /** Gives threads that are done with waiting their places in the queue for the lock. */
    interface Places {
        /** A waiter has got a ticket in the queue: of that sequence, and negative if it was not signalled. */
        void adopt(Waiter waiter, long sequence, long number, long now);

        /** A waiter has got a ticket of which this session doesn't know any more. */
        void grantedToNobody(long sequence, long waiter, boolean isSignalLost);

        /** A thread is about to queue for the local half of a fair lock. */
        void announce(Thread thread, long lease, long now);
    }

    private static final int MAX_GHOSTS = 10_000;

    private final Places places;
    private final LockView view;
    private final Effects<LockEffect> effects;
    private final long silenceNanos;
    private final long leaseNanos;
    private final ConditionLog log;

    /** By sequence, oldest first. */
    private final Map<Long, Waiter> waiting = new LinkedHashMap<>();

    /** Whether to ask for more than the oldest, since some of these are over. */
    private boolean asksForMore;

    /** Waiters without a thread that Redis may know, each with the number of inquiries that were made before. */
    private final Map<String, Long> gone = new LinkedHashMap<>();

    /** Waiters that are over for the session, and that Redis may yet signal. */
    private final Set<Long> ghosts = new HashSet<>();

    /** Waiters that were found to be over before the message came that would have told so; and when. */
    private final Map<Long, Long> told = new HashMap<>();

    private boolean isSignalLost;

    /** The number of inquiries that were made before the last signal was lost. */
    private long lostAfter;

    /** The number of inquiries made. An answer is about what was known when its inquiry was made. */
    private long inquiries;

    /** When Redis was last asked. */
    private long askedNanos;

    /** Whether Redis has refused the latest inquiry that it has answered, and since when it does. */
    private boolean isRefused;

    private long refusedNanos;

    /** A waiter's sequence that this session owns: the message that tells whose it is may be on its way. */
    private long unannounced;

    private long unannouncedNanos;

    /** The last waiter that was done with waiting. */
    private @Nullable Waiter last;

    ConditionQueue(Places places, LockView view, Effects<LockEffect> effects, Settings settings) {
        this.places = places;
        this.view = view;
        this.effects = effects;
        this.silenceNanos = settings.silenceNanos();
        this.leaseNanos = TimeUnit.MILLISECONDS.toNanos(settings.leaseMillis());
        this.log = new ConditionLog(view);
    }

    /** Returns whether no thread waits. If some do, Redis may make tickets of which this session doesn't know. */
    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Returns the threads that wait, for operators. */
    List<Stake.Wait> waiting(long now) {
        return waiting.values().stream()
                .map(one -> Stake.Wait.of(one.thread, one.condition, now - one.sinceNanos))
                .toList();
    }

    /** Returns whether no thread waits, and there is nothing to remember. */
    boolean isIdle() {
        return waiting.isEmpty() && told.isEmpty() && gone.isEmpty() && !isSignalLost && !view.isAnyArriving();
    }

    /** Returns whether there is a message to come that tells to which waiter this sequence belongs. */
    boolean mayBeAnnounced(long sequence, long now) {
        if (sequence != unannounced && !isIdle()) {
            unannounced = sequence;
            unannouncedNanos = now;
        }
        return !isIdle() && now - unannouncedNanos < silenceNanos;
    }

    /** Returns whether operations may be undone of a tenure that is over. */
    boolean isReleasing() {
        return log.isReleasing();
    }

    // ---- threads that have the lock

    /**
     * Has a thread wait for a condition, as soon as it has given up the tenure.
     *
     * @param sequence one that is greater than all before
     */
    Waiter enlist(Thread thread, LockTenure current, String condition, long sequence, long now) {
        var waiter = new Waiter(thread, condition, sequence, current.ticket(), current.nextPosition(), now);
        waiting.put(waiter.sequence, waiter);
        log.register(waiter);
        return waiter;
    }

    /** Signals the waiter that has waited longest, or all. */
    void signal(LockTenure current, String condition, boolean all, long now) {
        if (current.awaited) {
            log.signal(condition, all);
            return;
        }
        List<Waiter> signalled = unregistered(condition);
        for (Waiter waiter : all ? signalled : signalled.subList(0, Math.min(1, signalled.size()))) {
            log.remove(waiter);
            over(waiter, Outcome.SIGNALLED, 0, 0, now);
        }
    }

    private List<Waiter> unregistered(String condition) {
        return waiting.values().stream()
                .filter(waiter -> !waiter.isRegistered && waiter.condition.equals(condition))
                .toList();
    }

    /** Returns how many threads wait for a condition; or null if Redis has to be asked, since others may wait. */
    @Nullable
    SignalReply count(LockTenure current, String condition) {
        if (current.awaited) {
            return null;
        }
        Set<Long> own =
                unregistered(condition).stream().map(waiter -> waiter.sequence).collect(Collectors.toSet());
        return new SignalReply(true, false, false, own.size(), own);
    }

    /**
     * Returns the signals of a tenure, to be sent ahead, and a question: how many threads wait for a condition then.
     *
     * @param isListed whether to list those of this session
     */
    Signals signals(LockTenure current, String condition, boolean isListed, long now) {
        return log.signals(current, condition, isListed, now);
    }

    /** Returns the threads of these waiters. */
    Collection<Thread> threads(Set<Long> sequences) {
        return waiting.values().stream()
                .filter(waiter -> sequences.contains(waiter.sequence))
                .map(waiter -> waiter.thread)
                .toList();
    }

    /** The tenure goes on without the thread that has signalled: sends its signals ahead. */
    void flush(LockTenure current, long now) {
        if (view.isAnySignalDue) {
            effects.add(new Signal(signals(current, "", false, now)));
        }
    }

    /** Takes the reply to these, null if there was none. Returns false if the tenure is lost. */
    boolean signalled(LockTenure current, Signals sent, @Nullable SignalReply reply, long now) {
        if (log.done(current, sent, reply)) {
            sent.operations().registered().forEach(waiter -> registered(waiter, true));
            flush(current, now);
            askForLeavers();
        }
        if (reply == null) {
            return true;
        }
        view.heardNanos = now;
        current.demand |= reply.waiters();
        // A downgrade may have overtaken the signals: that has done them, and the session goes on as a reader.
        return reply.owned() || current.shared;
    }

    // ---- the end of a tenure

    /** Returns what a tenure that is over had to do. */
    Operations drain(long now) {
        return log.drain(now);
    }

    /** Another tenure begins, or may. */
    void begin() {
        log.begin();
    }

    /**
     * What a tenure had to do won't be done, if there is anything: those that were to be registered don't wait, and all
     * others are signalled.
     */
    void abandonOperations(long now) {
        if (!log.isEmpty()) {
            log.clear().forEach(waiter -> over(waiter, Outcome.SIGNALLED, 0, 0, now));
            loseSignal();
        }
    }

    /** A release has brought word of those to be registered with it, or none. */
    void released(List<Waiter> registered, @Nullable Released released, long now) {
        log.released();
        for (Waiter waiter : registered) {
            if (released == Released.NOTHING) {
                over(waiter, waiter.hadLost(now) ? Outcome.LOST : Outcome.SIGNALLED, 0, 0, now);
            } else {
                registered(waiter, released != null);
            }
        }
        askForLeavers();
    }

    /** Redis has registered a waiter, or may have. */
    private void registered(Waiter waiter, boolean isSure) {
        waiter.isConfirmed |= isSure;
        if (ghosts.contains(waiter.sequence)) {
            // What was said of it before may have come before it.
            gone.put(waiter.text, inquiries);
        }
    }

    /** Asks for those that had to wait for operations which are confirmed now. */
    private void askForLeavers() {
        if (isSignalLost || !gone.isEmpty() || waiting.values().stream().anyMatch(waiter -> waiter.isLeaving)) {
            effects.add(Plain.ASK_FOR_WAITERS);
        }
    }

    // ---- threads that wait

    /** Has a thread leave the condition, unless it has been signalled. */
    void leave(Waiter waiter, long now) {
        if (waiter.outcome != null) {
            return;
        }
        if (!waiter.isRegistered) {
            log.remove(waiter);
            over(waiter, Outcome.LEFT, 0, 0, now);
            return;
        }
        waiter.isLeaving = true;
        arrives(waiter);
        LockTenure current = view.tenure;
        if (current != null) {
            // What was signalled before comes first.
            flush(current, now);
        }
        effects.add(Plain.ASK_FOR_WAITERS);
    }

    /** The thread doesn't wait for an answer any more. Returns false if there is one. */
    boolean abandon(Waiter waiter) {
        boolean isWaiting = waiting.remove(waiter.sequence) != null;
        if (isWaiting && waiter.isRegistered) {
            gone.put(waiter.text, inquiries);
            mayComeBack(waiter.sequence);
            effects.add(Plain.ASK_FOR_WAITERS);
        } else if (isWaiting) {
            log.remove(waiter);
        }
        return waiter.outcome == null;
    }

    /**
     * Redis may yet signal this waiter, of which the session thinks that it is over: it was given up early, or the
     * ticket that it was said to have isn't there, so that a stranger may have said so.
     */
    void mayComeBack(long sequence) {
        if (ghosts.size() >= MAX_GHOSTS) {
            ghosts.clear();
        }
        ghosts.add(sequence);
    }

    /** A waiter's thread queues for the local half now; then the next one shall. Returns the one that is before it. */
    Optional<Waiter> lineUp(Waiter waiter) {
        if (waiter.successor != null) {
            effects.add(new WakeWaiter(waiter.successor));
        }
        return waiter.lineUp();
    }

    /** A waiter has the local half again; or it can't have the remote half, and its signal has to go to others. */
    void arrived(Waiter waiter, boolean isLost) {
        waiter.arrived();
        if (last == waiter) {
            last = null;
        }
        if (waiter.isArriving) {
            waiter.isArriving = false;
            view.arrive(-1);
        }
        if (isLost && waiter.outcome == Outcome.SIGNALLED) {
            loseSignal();
        }
    }

    /** A signal has reached nobody: all others are to be signalled. */
    private void loseSignal() {
        isSignalLost = true;
        lostAfter = inquiries;
        effects.add(Plain.ASK_FOR_WAITERS);
    }

    private void arrives(Waiter waiter) {
        if (!waiter.isArriving) {
            waiter.isArriving = true;
            view.arrive(1);
        }
    }

    // ---- what Redis says

    /** A thread has slept: asks if nothing was asked for a while. */
    void beat(long now) {
        if (inquiries == 0 || now - askedNanos >= TicketQueue.POLL_NANOS) {
            effects.add(Plain.BEAT_FOR_WAITERS);
        }
    }

    /** Returns how the waiters stand as far as Redis has to know, and what to ask; null if there is nothing to say. */
    @Nullable
    Inquiry inquiry(long now) {
        askedNanos = now;
        told.values().removeIf(nanos -> now - nanos >= silenceNanos);
        boolean isSignalling = log.isSignalling(now);
        Set<String> oldest = new HashSet<>();
        List<String> asked = new ArrayList<>();
        List<String> leaving = new ArrayList<>();
        for (Waiter waiter : waiting.values()) {
            if (!waiter.isKnown(now, silenceNanos)) {
                continue;
            }
            if (!waiter.isLeaving) {
                if (oldest.add(waiter.condition) || (asksForMore && asked.size() < MOST_ASKED)) {
                    asked.add(waiter.text);
                }
            } else if (!isSignalling && leaving.size() < MOST_ASKED) {
                leaving.add(waiter.text);
            }
        }
        boolean saysNothing = asked.isEmpty() && leaving.isEmpty() && gone.isEmpty() && !isSignalLost;
        List<String> parting = gone.keySet().stream().limit(MOST_ASKED).toList();
        return saysNothing ? null : new Inquiry(++inquiries, asked, leaving, parting, isSignalLost);
    }

    /** Takes the answer to what was said then. */
    void answered(Inquiry inquiry, long sentNanos, List<WaiterReply> replies, long now) {
        view.heardNanos = now;
        isRefused = false;
        long number = inquiry.number();
        inquiry.gone().forEach(text -> gone.computeIfPresent(text, (same, before) -> before < number ? null : before));
        isSignalLost &= lostAfter >= number;
        boolean isAnyOver = false;
        for (WaiterReply reply : replies) {
            Waiter waiter = waiting.get(reply.waiter());
            boolean isSignalled = reply.state() == WaiterState.SIGNALLED;
            if (waiter != null && reply.state() == WaiterState.WAITING) {
                stillWait(waiter.condition, sentNanos);
            } else if (waiter != null || reply.ticket() != 0) {
                // Of a waiter that is over already, Redis may not have known yet.
                isAnyOver |= waiter != null && isSignalled;
                admitted(isSignalled ? reply.waiter() : -reply.waiter(), reply.ticket(), now);
                if (waiter != null && reply.ticket() != 0) {
                    // The message that says so as well may come when its ticket is over, too.
                    told.put(reply.waiter(), now);
                }
            }
        }
        boolean isMissing = !log.isSignalling(now)
                && waiting.values().stream().anyMatch(waiter -> waiter.isLeaving && waiter.isConfirmed);
        asksForMore = isAnyOver;
        if (isAnyOver || isMissing || isSignalLost || !gone.isEmpty()) {
            effects.add(Plain.ASK_FOR_WAITERS);
        }
    }

    /**
     * Redis refuses to be asked about waiters, so nobody can signal them: those that it may know end. What it has yet
     * to hear of others is repeated with the pulse, until the lease is over. Returns whether a wait has ended.
     */
    boolean refused(Throwable cause, long now) {
        boolean isThrown = false;
        if (!isRefused) {
            isRefused = true;
            refusedNanos = now;
        }
        for (Waiter waiter : List.copyOf(waiting.values())) {
            if (waiter.isRegistered) {
                waiter.refusal = cause;
                over(waiter, Outcome.REFUSED, 0, 0, now);
                isThrown = true;
            }
        }
        if (now - refusedNanos >= leaseNanos) {
            gone.clear();
            isSignalLost = false;
        }
        return isThrown;
    }

    // The oldest has been found waiting; so were all that had begun to wait before the command was sent.
    private void stillWait(String condition, long sentNanos) {
        for (Waiter waiter : waiting.values()) {
            if (waiter.isConfirmed && waiter.condition.equals(condition)) {
                waiter.waitsAt(sentNanos);
            }
        }
    }

    /** A waiter queues for the lock now; negative if it wasn't signalled. */
    void admitted(long number, long ticket, long now) {
        Waiter waiter = waiting.get(Math.abs(number));
        if (waiter != null) {
            over(waiter, number > 0 ? Outcome.SIGNALLED : Outcome.LEFT, ticket, number, now);
            return;
        }
        boolean isNews = told.remove(Math.abs(number)) == null;
        if (ticket != 0) {
            places.grantedToNobody(ticket, number, isNews);
        } else if (isNews && number > 0) {
            // Redis may have gone back to an older copy of its data, in which a thread waits that has long been done.
            ghosts.remove(number);
            loseSignal();
        }
    }

    private void over(Waiter waiter, Outcome outcome, long ticket, long number, long now) {
        if (waiting.remove(waiter.sequence) == null) {
            return;
        }
        if (outcome == Outcome.REFUSED) {
            gone.put(waiter.text, inquiries);
        }
        // Of one that ends without an answer Redis may yet say that it was signalled.
        if (waiter.isConfirmed && ticket == 0 && outcome != Outcome.CLOSED && outcome != Outcome.REFUSED) {
            told.put(waiter.sequence, now);
        } else if (waiter.isRegistered && ticket == 0) {
            mayComeBack(waiter.sequence);
        }
        arrives(waiter);
        if (ticket != 0) {
            places.adopt(waiter, ticket, number, now);
        } else if (view.fair && outcome != Outcome.CLOSED) {
            places.announce(waiter.thread, waiter.leaseMillis, now);
        }
        if (waiter.end(outcome, last)) {
            effects.add(new WakeWaiter(waiter));
        }
        last = waiter;
    }

    /** Ends all waits, because the session is closed. Returns what Redis has to know. */
    List<Inquiry> close(long now) {
        boolean isAnyLost = isSignalLost || view.isAnyArriving();
        List<String> texts = new ArrayList<>(gone.keySet());
        for (Waiter waiter : List.copyOf(waiting.values())) {
            over(waiter, Outcome.CLOSED, 0, 0, now);
            if (waiter.isRegistered) {
                texts.add(waiter.text);
            }
        }
        log.removeUnregistered();
        var parts = texts.isEmpty() && isAnyLost ? List.of(texts) : Lists.partition(texts, MOST_ASKED);
        return parts.stream()
                .map(some -> new Inquiry(++inquiries, List.of(), List.of(), some, isAnyLost))
                .toList();
    }
}
