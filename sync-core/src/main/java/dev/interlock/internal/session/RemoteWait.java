package dev.interlock.internal.session;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener.Outcome;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The wait of one thread for Redis: how long it may take, what ends it, and how the thread sleeps meanwhile. No other
 * class of the library parks or polls.
 *
 * <p><b>Time.</b> A caller's wait counts from the beginning. Where Redis has not said anything about the name yet, a
 * short wait is extended to the time that a first answer takes: only Redis knows whether the name is free. A wait that
 * asks only once ends with its answer, after a command time-out at most. A wait without end is ended by an outage that
 * lasts for too long.
 *
 * <p><b>Interrupts</b> end an interruptible wait; another one keeps them, and {@link #close} restores the flag.
 *
 * <p><b>Wake-ups.</b> An unpark alone may end another sleep of the thread than is meant, in a lock or a class loader.
 * So {@link #wake} also leaves word, which {@link #sleep} sees, and the thread calls {@link #look} before it looks at
 * the state.
 */
public final class RemoteWait implements AutoCloseable {
    /** How a thread acquires a lock or permits, for which it may have to wait. */
    @FunctionalInterface
    public interface Acquisition {
        /** Returns whether the thread has acquired them. */
        boolean run() throws InterruptedException;
    }

    /** A wait that never ends by itself. */
    public static final long FOREVER = Long.MAX_VALUE;

    /** The least time for the first answer, however short the wait is. */
    public static final long FIRST_ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** A sleeping thread looks so often whether its session is closed or the outage too long. */
    public static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Session session;
    private final boolean interruptible;
    private final boolean once;
    private final boolean timed;
    private final long patienceNanos;
    private final long graceNanos;
    private final LongFunction<RedisUnavailableException> unavailable;
    private final Thread thread = Thread.currentThread();
    private final long begunNanos;
    private boolean acquires;
    private boolean interrupted;
    private boolean heard;
    private volatile boolean woken;

    /**
     * Begins a wait of the current thread.
     *
     * @param waitNanos 0 or less to ask only once, {@link #FOREVER} to wait without end
     * @param unavailable makes what is thrown if Redis has not answered, of the nanoseconds that the thread has waited
     */
    public RemoteWait(
            Session session,
            boolean interruptible,
            long waitNanos,
            LongFunction<RedisUnavailableException> unavailable) {
        this.session = session;
        this.interruptible = interruptible;
        this.once = waitNanos <= 0;
        this.timed = waitNanos != FOREVER;
        long commandNanos = TimeUnit.MILLISECONDS.toNanos(session.settings().commandTimeoutMillis());
        this.patienceNanos = once ? commandNanos : waitNanos;
        this.graceNanos = Math.max(patienceNanos, Math.min(FIRST_ANSWER_NANOS, commandNanos));
        this.unavailable = unavailable;
        this.begunNanos = session.now();
    }

    /**
     * Runs an acquisition, of which somebody wants to know the outcome.
     *
     * @param ended is told the outcome, also if this throws
     */
    public static boolean observe(Acquisition acquisition, Consumer<Outcome> ended) throws InterruptedException {
        Outcome outcome = Outcome.FAILED;
        try {
            boolean acquired = acquisition.run();
            outcome = acquired ? Outcome.ACQUIRED : Outcome.TIMEOUT;
            return acquired;
        } catch (InterruptedException e) {
            outcome = Outcome.INTERRUPTED;
            throw e;
        } finally {
            ended.accept(outcome);
        }
    }

    /** Has the wait end when the session is about to be closed: it is for something that the thread doesn't have. */
    @CanIgnoreReturnValue
    public RemoteWait acquiring() {
        acquires = true;
        return this;
    }

    /** Throws if the session is closed, or refuses what the thread waits for. */
    public void ensureOpen() {
        session.ensureOpen();
        if (acquires) {
            session.ensureAcquiring();
        }
    }

    /** Returns whether the thread only asks, and doesn't wait for anything but the answer. */
    public boolean isOnce() {
        return once;
    }

    /** Returns whether an interrupt ends the wait. */
    public boolean isInterruptible() {
        return interruptible;
    }

    /** Returns whether the wait ends by itself. */
    public boolean isTimed() {
        return timed;
    }

    /** Returns the thread that waits. */
    public Thread thread() {
        return thread;
    }

    /** Returns when it began, by the session's ticker. */
    public long begunNanos() {
        return begunNanos;
    }

    private long elapsedNanos() {
        return session.now() - begunNanos;
    }

    /** Redis has said something about the name: the caller's wait is all that counts now. */
    public void heard() {
        heard = true;
    }

    /** Returns how much of the time is left, of that for the first answer if there has been none. */
    public long leftNanos() {
        return timed ? (heard ? patienceNanos : graceNanos) - elapsedNanos() : FOREVER;
    }

    /** Returns how much is left of what the caller would wait. */
    public long callersLeftNanos() {
        return timed ? patienceNanos - elapsedNanos() : FOREVER;
    }

    /** Ends an interruptible wait if the thread was interrupted; keeps the interrupt of another one. */
    public void checkInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            if (interruptible) {
                throw new InterruptedException();
            }
            interrupted = true;
        }
    }

    /** Throws if the session is closed or the thread was interrupted. */
    public void check() throws InterruptedException {
        ensureOpen();
        checkInterrupt();
    }

    /** Throws if the wait has no end of its own, and the outage has lasted for too long. */
    public void checkOutage() {
        if (!timed && session.outage().isTooLong()) {
            throw unavailable();
        }
    }

    /**
     * Returns whether to go on: false if the time is over, and Redis has said that the name isn't free.
     *
     * @throws RedisUnavailableException if the time is over and Redis has said nothing, or the outage has lasted for
     *     too long
     */
    public boolean goesOn() {
        checkOutage();
        if (leftNanos() > 0) {
            return true;
        }
        if (once || !heard || session.outage().isActive()) {
            throw unavailable();
        }
        return false;
    }

    /** Returns what to throw if Redis has not answered. */
    public RedisUnavailableException unavailable() {
        return unavailable.apply(elapsedNanos());
    }

    // ---- sleeping

    /** Forgets wake-ups so far, because the thread looks at the state next. */
    public void look() {
        woken = false;
    }

    /** Returns whether the state has changed since the thread looked at it. */
    public boolean isWoken() {
        return woken;
    }

    /** The state has changed: the thread looks at it. */
    public void wake() {
        woken = true;
        session.wake(thread);
    }

    /** Sleeps for so long at most, unless the thread was woken since it looked. */
    public void sleep(Object blocker, long nanos) {
        if (!woken) {
            session.park(blocker, nanos);
        }
    }

    /** Spins for a reply that is due; returns whether the thread was woken. */
    public boolean spin() {
        return session.spinner().awaits(() -> woken);
    }

    /**
     * Sleeps until that is so, for so long at most. It has to {@link #wake} the thread when it becomes so.
     *
     * @return whether it is so
     */
    public boolean until(BooleanSupplier isSo, Object blocker, long nanos) throws InterruptedException {
        long start = session.now();
        while (true) {
            look();
            if (isSo.getAsBoolean()) {
                return true;
            }
            check();
            long left = nanos == FOREVER ? FOREVER : nanos - (session.now() - start);
            if (left <= 0) {
                return false;
            }
            sleep(blocker, Math.min(left, LOOK_NANOS));
        }
    }

    /** Sleeps until there is an answer, for so long at most. Returns whether it is there, if only a failure. */
    public boolean until(CompletableFuture<?> answer, Object blocker, long nanos) throws InterruptedException {
        if (!answer.isDone()) {
            answer.whenComplete((done, failure) -> wake());
        }
        return until(answer::isDone, blocker, nanos);
    }

    /**
     * Pauses the current thread before it looks again at a state of this JVM, whose change wakes nobody.
     *
     * @param blocker what thread dumps show
     */
    public static void pause(Session session, Object blocker, long nanos) {
        session.park(blocker, nanos);
    }

    /**
     * Waits for an answer, if only a failure: for as long as the caller would, and the outage allows.
     *
     * @throws RedisUnavailableException if there is none by then
     */
    public void await(CompletableFuture<?> answer, Object blocker) throws InterruptedException {
        if (answer.isDone()) {
            return;
        }
        answer.whenComplete((done, failure) -> wake());
        spin();
        for (look(); !answer.isDone(); look()) {
            check();
            long left = callersLeftNanos();
            if (left <= 0 || session.outage().isTooLong()) {
                throw unavailable();
            }
            sleep(blocker, Math.min(left, LOOK_NANOS));
        }
    }

    /** Restores an interrupt that was kept. */
    @Override
    public void close() {
        if (interrupted) {
            thread.interrupt();
        }
    }

    /**
     * Waits for an answer, whatever becomes of the session and of interrupts, which are kept for later.
     *
     * @return null if there was none within that time, or it was a failure
     */
    public static <T> @Nullable T forAnswer(Session session, CompletableFuture<T> answer, long nanos) {
        if (!answer.isDone()) {
            sleepUntilDone(session, answer, nanos);
        }
        return answer.isDone() && !answer.isCompletedExceptionally() ? answer.join() : null;
    }

    private static void sleepUntilDone(Session session, CompletableFuture<?> answer, long nanos) {
        Thread thread = Thread.currentThread();
        answer.whenComplete((done, failure) -> session.wake(thread));
        boolean interrupted = false;
        long start = session.nanoTime();
        try {
            for (long left = nanos; left > 0 && !answer.isDone(); left = nanos - (session.nanoTime() - start)) {
                session.park(answer, left);
                interrupted |= Thread.interrupted();
            }
        } finally {
            if (interrupted) {
                thread.interrupt();
            }
        }
    }
}
