package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.Signals;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a tenure has to do with conditions: registrations of waiters, and signals. It goes with the release; if the
 * tenure goes on for other threads, signals are sent ahead. Operations are numbered, and done once.
 */
final class ConditionLog {
    /** A release that was not confirmed after so long is no reason to put off what leaves. */
    private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A waiter's registration, or a signal. */
    private record Operation(String text, @Nullable Waiter waiter) {}

    private final LockView view;

    /** Those that Redis has not confirmed. */
    private final List<Operation> log = new ArrayList<>();

    /** The number of the first of them. */
    private long first = 1;

    /** How many releases with operations are under way, and since when. */
    private int releasing;

    private long releasingSinceNanos;

    ConditionLog(LockView view) {
        this.view = view;
    }

    boolean isEmpty() {
        return log.isEmpty();
    }

    /** Returns whether operations may be undone of a tenure that is over. */
    boolean isReleasing() {
        return releasing > 0;
    }

    /** Returns whether signals are on their way: a waiter that leaves does so after them. */
    boolean isSignalling(long now) {
        return hasSignals() || (releasing > 0 && now - releasingSinceNanos < RELEASE_NANOS);
    }

    private boolean hasSignals() {
        for (Operation operation : log) {
            if (operation.waiter == null) {
                return true;
            }
        }
        return false;
    }

    /** The waiter is to be registered. */
    void register(Waiter waiter) {
        log.add(new Operation((view.fair ? "f" : "w") + waiter.text, waiter));
    }

    /** The waiter that has waited longest is to be signalled, or all. */
    void signal(String condition, boolean all) {
        log.add(new Operation((all ? "a" : "s") + condition, null));
        view.isAnySignalDue = true;
    }

    /** The waiter needn't be registered. */
    void remove(Waiter waiter) {
        log.removeIf(operation -> operation.waiter == waiter);
    }

    /** No waiter needs to be registered of which Redis doesn't know. */
    void removeUnregistered() {
        log.removeIf(operation -> operation.waiter != null && !operation.waiter.isRegistered);
    }

    /** Returns all, to be sent ahead. */
    Signals signals(LockTenure current, String condition, boolean isListed, long now) {
        view.isAnySignalDue = false;
        return new Signals(current.sequence, operations(now), first + log.size() - 1, condition, isListed);
    }

    private Operations operations(long now) {
        List<Waiter> waiters = waiters();
        for (Waiter waiter : waiters) {
            if (!waiter.isRegistered) {
                waiter.isRegistered = true;
                waiter.waitsAt(now);
            }
        }
        String text = log.stream().map(Operation::text).collect(Collectors.joining(" "));
        return new Operations(first, text, waiters);
    }

    private List<Waiter> waiters() {
        List<Waiter> waiters = new ArrayList<>();
        for (Operation operation : log) {
            if (operation.waiter != null) {
                waiters.add(operation.waiter);
            }
        }
        return waiters;
    }

    /** Takes note that operations are done; or that it isn't known, and they have to be sent again: returns false. */
    boolean done(LockTenure current, Signals sent, @Nullable SignalReply reply) {
        if (reply == null || !reply.owned()) {
            view.isAnySignalDue = hasSignals();
            return false;
        }
        for (; first <= sent.last() && !log.isEmpty(); first++) {
            log.remove(0);
        }
        if (log.isEmpty() && sent.last() == first - 1) {
            current.awaited = reply.conditions();
        }
        return true;
    }

    /** The tenure is over; another one continues it, or what this returns is done by its release. */
    Operations drain(long now) {
        if (log.isEmpty()) {
            begin();
            return Operations.NONE;
        }
        Operations operations = operations(now);
        clear();
        releasing++;
        releasingSinceNanos = now;
        return operations;
    }

    /** A release with operations was confirmed, or given up. */
    void released() {
        releasing--;
    }

    /** A tenure begins, by whose numbers those operations count that are still to be done. */
    void begin() {
        first = 1;
        view.isAnySignalDue = hasSignals();
    }

    /** What the tenure had to do won't be done. Returns the waiters that were to be registered. */
    List<Waiter> clear() {
        List<Waiter> waiters = waiters();
        log.clear();
        begin();
        return waiters;
    }
}
