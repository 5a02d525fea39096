package dev.interlock.internal.lock.script;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The log of what a tenure has to do with conditions: registrations of waiters, and signals. It goes with the release;
 * if the tenure goes on for other threads, signals are sent ahead. Operations are numbered, and done once.
 *
 * <p>The owner calls it with the mutex held, except for what is volatile.
 */
final class ConditionOperations {
    /** A release that was not confirmed after so long is no reason to put off what leaves. */
    private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A waiter's registration, or a signal. */
    private record Operation(String text, @Nullable ConditionWaiter waiter) {
        boolean isSignal() {
            return waiter == null;
        }
    }

    private final LockMonitor.Shared shared;
    private final Runnable whenDone;

    /** Those that Redis has not confirmed. */
    private final List<Operation> log = new ArrayList<>();

    /** The number of the first of them. */
    private long first = 1;

    /** Whether there are signals among them that were not sent. */
    private volatile boolean isAnySignalDue;

    /** How many releases with operations are under way, and since when. */
    private int releasing;

    private long releasingSinceNanos;

    /**
     * Creates an empty log.
     *
     * @param whenDone runs with the mutex held, when operations that were sent ahead are done
     */
    ConditionOperations(LockMonitor.Shared shared, Runnable whenDone) {
        this.shared = shared;
        this.whenDone = whenDone;
    }

    boolean isEmpty() {
        return log.isEmpty();
    }

    /** Returns whether there are signals that were not sent. Needs no mutex. */
    boolean isAnySignalDue() {
        return isAnySignalDue;
    }

    /** Returns whether operations may be undone of a tenure that is over. */
    boolean isReleasing() {
        return releasing > 0;
    }

    /** Returns whether signals are on their way: a waiter that leaves does so after them. */
    boolean isSignalling(long now) {
        boolean isReleasingLately = releasing > 0 && now - releasingSinceNanos < RELEASE_NANOS;
        return isReleasingLately || hasSignals();
    }

    private boolean hasSignals() {
        return log.stream().anyMatch(Operation::isSignal);
    }

    /** The waiter is to be registered. */
    void register(ConditionWaiter waiter, boolean fair) {
        log.add(new Operation((fair ? "f" : "w") + waiter.text, waiter));
    }

    /** The waiter that has waited longest is to be signalled, or all. */
    void signal(String condition, boolean all) {
        log.add(new Operation((all ? "a" : "s") + condition, null));
        isAnySignalDue = true;
    }

    /** The waiter needn't be registered. */
    void remove(ConditionWaiter waiter) {
        log.removeIf(operation -> operation.waiter == waiter);
    }

    /** No waiter needs to be registered of which Redis doesn't know. */
    void removeUnregistered() {
        log.removeIf(operation -> operation.waiter != null && !operation.waiter.isRegistered);
    }

    /** The tenure goes on without the thread that has signalled: sends its signals ahead. */
    void flush(LockTenure current) {
        if (isAnySignalDue) {
            send(current, "", false);
        }
    }

    /** Sends all ahead, and asks how many wait for a condition once they are done. */
    @CanIgnoreReturnValue
    CompletableFuture<SignalReply> send(LockTenure current, String condition, boolean isListed) {
        Operations operations = operations();
        long last = first + log.size() - 1;
        isAnySignalDue = false;
        CompletableFuture<SignalReply> reply =
                shared.scripts().signal(current.sequence, operations, condition, isListed);
        reply.whenComplete((signalled, failure) -> signalled(current, last, signalled));
        return reply;
    }

    private Operations operations() {
        long now = shared.session().now();
        for (Operation operation : log) {
            ConditionWaiter waiter = operation.waiter;
            if (waiter != null && !waiter.isRegistered) {
                waiter.isRegistered = true;
                waiter.waitsAt(now);
            }
        }
        return new Operations(first, log.stream().map(Operation::text).collect(Collectors.joining(" ")));
    }

    /** Takes the reply to operations up to that one, null if there was none. Called without the mutex. */
    private void signalled(LockTenure current, long last, @Nullable SignalReply reply) {
        boolean isLost;
        ReentrantLock mutex = shared.mutex();
        mutex.lock();
        try {
            if (shared.state().tenure() != current) {
                return;
            }
            if (done(current, last, reply)) {
                whenDone.run();
            }
            if (reply != null) {
                shared.state().heard(shared.session().now());
                current.demand |= reply.waiters();
            }
            // A downgrade may have overtaken the signals: that has done them, and the session goes on as a reader.
            isLost = reply != null && !reply.owned() && !current.shared;
        } finally {
            mutex.unlock();
        }
        if (isLost) {
            current.lose("its owner in Redis had changed");
        }
        if (reply != null && reply.waiters()) {
            shared.owner().demanded();
        }
    }

    /** Takes note that operations are done; or that it isn't known, and they have to be sent again: returns false. */
    private boolean done(LockTenure current, long last, @Nullable SignalReply reply) {
        if (reply == null || !reply.owned()) {
            isAnySignalDue = hasSignals();
            return false;
        }
        for (; first <= last && !log.isEmpty(); first++) {
            ConditionWaiter waiter = log.remove(0).waiter;
            if (waiter != null) {
                waiter.isConfirmed = true;
            }
        }
        if (log.isEmpty() && last == first - 1) {
            current.awaited = reply.conditions();
        }
        flush(current);
        return true;
    }

    /** The tenure is over; another one continues it, or what this returns is done by its release. */
    Operations drain() {
        if (log.isEmpty()) {
            begin();
            return Operations.NONE;
        }
        Operations operations = operations();
        clear();
        releasing++;
        releasingSinceNanos = shared.session().now();
        return operations;
    }

    /** A release with operations was confirmed, or given up. */
    void released() {
        releasing--;
    }

    /** A tenure begins, by whose numbers those operations count that are still to be done. */
    void begin() {
        first = 1;
        isAnySignalDue = hasSignals();
    }

    /** What the tenure had to do won't be done. */
    void clear() {
        log.clear();
        begin();
    }

    /** Returns the waiters that are to be registered by what {@link #drain} returns. */
    List<ConditionWaiter> unsent() {
        List<ConditionWaiter> unsent = new ArrayList<>();
        for (Operation operation : log) {
            if (operation.waiter != null) {
                unsent.add(operation.waiter);
            }
        }
        return unsent;
    }
}
