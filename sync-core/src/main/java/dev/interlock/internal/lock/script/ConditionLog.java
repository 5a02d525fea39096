package dev.interlock.internal.lock.script;

import com.google.common.base.Strings;
import dev.interlock.internal.lock.RemoteConditions;
import dev.interlock.internal.lock.RemoteLock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a tenure has to do with conditions: registrations of waiters, and signals. It goes with the release; if the
 * tenure goes on for other threads, signals are sent ahead. Operations are numbered, and done once.
 */
final class ConditionLog {
    /** How a waiter stands, by {@link LockScripts#await}. */
    enum WaiterState {
        SIGNALLED,
        WAITING,
        LEFT;

        /** Returns the one that scripts call by that number. */
        static WaiterState of(int number) {
            return values()[number];
        }
    }

    /**
     * What {@link LockScripts#await} tells of one waiter.
     *
     * @param waiter its sequence
     * @param state {@link WaiterState#SIGNALLED} also if Redis doesn't know it
     * @param ticket the sequence of its ticket, or 0
     */
    record WaiterReply(long waiter, WaiterState state, long ticket) {}

    /**
     * What a tenure has to do with its conditions, as scripts take it.
     *
     * @param first the number of the first one, counted from 1 in a tenure
     * @param text the operations, separated by spaces
     * @param registered the waiters that they register
     */
    record Operations(long first, String text, List<Waiter> registered) {
        static final Operations NONE = new Operations(1, "", List.of());

        /** A signal to all waiters of all conditions. */
        static final Operations SIGNAL_ALL = new Operations(1, "*", List.of());

        boolean isEmpty() {
            return text.isEmpty();
        }
    }

    /**
     * The answer to {@link LockScripts#signal}.
     *
     * @param owned whether the operations are done
     * @param waiters whether another session stands in the queue
     * @param conditions whether threads wait for conditions
     * @param count how many wait for the condition that was asked for
     * @param own the numbers of the waiters of this session among these, if they were asked for
     */
    record SignalReply(boolean owned, boolean waiters, boolean conditions, int count, Set<Long> own) {}

    /**
     * How the waiters of a session stand, and which ones it asks for.
     *
     * @param number counts the inquiries of a lock
     * @param asked waiters of which it wants to know
     * @param leaving waiters that leave, unless they have been signalled
     * @param gone waiters that have no thread any more
     * @param isSignalLost whether a signal has reached nobody
     */
    record Inquiry(long number, List<String> asked, List<String> leaving, List<String> gone, boolean isSignalLost) {
        /** Asks for nothing. */
        static final Inquiry SIGNAL_LOST = new Inquiry(0, List.of(), List.of(), List.of(), true);
    }

    /**
     * A thread that waits for a condition, from when it is about to give the lock up until it has it back. Its state is
     * part of the {@link LockState}, except for what is volatile.
     */
    static final class Waiter implements RemoteConditions.Wait {
        /** How the wait ended, as Redis has decided it. */
        enum Outcome {
            /** It was signalled, or nobody knows of it any more. */
            SIGNALLED,
            /** It had to leave before it was signalled. */
            LEFT,
            /** When the lock was given up, it had been lost. */
            LOST,
            /** Redis refuses to be asked about it. */
            REFUSED,
            CLOSED
        }

        final Thread thread;
        final String condition;
        final long sequence;
        final long sinceNanos;

        /** The lease with which the lock is taken back, {@link RemoteLock#RENEWED} or a fixed one. */
        final long leaseMillis;

        /** As scripts know it. */
        final String text;

        /** Whether Redis may know of it. */
        boolean isRegistered;

        /** Whether Redis has said that it does. */
        boolean isConfirmed;

        /** Whether its thread has given the tenure up, rather than left it to others of the session. */
        boolean hasReleased;

        /** Whether it is to leave, unless it has been signalled. */
        boolean isLeaving;

        /** The waiter that was done with waiting just before it, and is to queue for the local half before it. */
        private @Nullable Waiter predecessor;

        /** The waiter that was done with waiting just after it. */
        private @Nullable Waiter successor;

        /** Whether it is about to queue for the local half. */
        private boolean isLiningUp;

        /** Whether it has had the local half. */
        volatile boolean isThrough;

        /** Whether it is counted among those that are about to queue for the local half. */
        boolean isArriving;

        /** When the last command was first sent that found it waiting, or made it wait. */
        private long waitingNanos;

        /** Wakes the thread, once it sleeps. */
        volatile @Nullable Runnable wakeUp;

        volatile @Nullable Outcome outcome;

        /** Why Redis has refused it. Written before the outcome. */
        @Nullable
        Throwable refusal;

        /** A thread is about to wait, having entered on that tenure. */
        Waiter(Thread thread, String condition, long sequence, LockTenure tenure, long nowNanos) {
            this.thread = thread;
            this.condition = condition;
            this.sequence = sequence;
            this.leaseMillis = tenure.renewed ? RemoteLock.RENEWED : tenure.leaseMillis;
            String position = padded(tenure.tokens.remotePart(), 16) + padded(tenure.awaits, 9);
            this.text = condition + ":" + position + ":" + sequence + ":"
                    + tenure.ticket().grantMillis();
            this.sinceNanos = nowNanos;
            this.waitingNanos = nowNanos;
        }

        private static String padded(long number, int digits) {
            return Strings.padStart(Long.toString(number), digits, '0');
        }

        void waitsAt(long sentNanos) {
            waitingNanos = sentNanos - waitingNanos > 0 ? sentNanos : waitingNanos;
        }

        /** Returns whether Redis can be asked about it: it has confirmed it, or had that much time to. */
        boolean isKnown(long nowNanos, long silenceNanos) {
            return isConfirmed || (isRegistered && nowNanos - waitingNanos >= silenceNanos);
        }

        /**
         * It is done with waiting, after that other one. Its thread is woken when that one has lined up, if it has to.
         */
        void end(Outcome how, @Nullable Waiter ahead) {
            if (ahead != null && !ahead.isThrough) {
                predecessor = ahead;
                ahead.successor = this;
            }
            outcome = how;
            if (predecessor == null || predecessor.isLiningUp) {
                wake();
            }
        }

        /** The thread queues for the local half now; then the next one shall. Returns the one that queues before it. */
        Optional<Waiter> lineUp() {
            isLiningUp = true;
            if (successor != null) {
                successor.wake();
            }
            Waiter ahead = predecessor;
            predecessor = null;
            return Optional.ofNullable(ahead);
        }

        /** The thread has the local half. */
        void arrived() {
            isThrough = true;
            successor = null;
        }

        /** Has the thread look at the outcome. */
        private void wake() {
            Runnable sleeping = wakeUp;
            if (sleeping != null) {
                sleeping.run();
            }
        }

        long waitingNanos() {
            return waitingNanos;
        }
    }

    /** A release that was not confirmed after so long is no reason to put off what leaves. */
    private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A waiter's registration, or a signal. */
    private record Operation(String text, @Nullable Waiter waiter) {}

    /**
     * Operations of a tenure that goes on, and a question.
     *
     * @param last the number of the last operation
     * @param condition whose waiters to count once these are done
     * @param isListed whether to list those of this session
     */
    record Signals(LockTenure tenure, Operations operations, long last, String condition, boolean isListed) {}

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
        return new Signals(current, operations(now), first + log.size() - 1, condition, isListed);
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
    boolean done(Signals sent, @Nullable SignalReply reply) {
        if (reply == null || !reply.owned()) {
            view.isAnySignalDue = hasSignals();
            return false;
        }
        for (; first <= sent.last && !log.isEmpty(); first++) {
            log.remove(0);
        }
        if (log.isEmpty() && sent.last == first - 1) {
            sent.tenure.awaited = reply.conditions();
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
