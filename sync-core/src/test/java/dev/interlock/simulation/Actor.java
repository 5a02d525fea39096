package dev.interlock.simulation;

import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * A thread of a simulated JVM. It is a real thread, but runs only in its turn, and gives that back where a thread would
 * sleep or might be preempted.
 */
final class Actor {
    /** Its JVM has died: unwinds the thread. */
    static final class Death extends Error {
        private static final long serialVersionUID = 1L;

        Death() {
            super("the JVM has died", null, false, false);
        }
    }

    /** What an actor does. */
    @FunctionalInterface
    interface Program {
        void run() throws InterruptedException;
    }

    /** Those of all actors. */
    static final ThreadGroup THREADS = new ThreadGroup("actors");

    private final Jvm jvm;
    private final Scheduler scheduler;
    private final String name;
    private final Program program;
    private final boolean runsTasks;
    private final Semaphore turn = new Semaphore(0);
    private @Nullable Thread thread;
    private @Nullable Throwable failure;
    private @Nullable Object blocker;

    /** Counts sleeps, so that what was to end an earlier one does not end a later one. */
    private long sleep;

    /** Whether the next {@link #park} returns at once. */
    private boolean hasPermit;

    private boolean isParked;
    private boolean isKilled;
    private boolean isFinished;

    Actor(Jvm jvm, String name, Program program) {
        this(jvm, name, program, false);
    }

    private Actor(Jvm jvm, String name, Program program, boolean runsTasks) {
        this.runsTasks = runsTasks;
        this.jvm = jvm;
        this.scheduler = jvm.scheduler();
        this.name = name;
        this.program = program;
        scheduler.add(this);
    }

    /** Creates the thread that runs the tasks of a session. */
    static Actor ofTasks(Jvm jvm, String name, Program program) {
        return new Actor(jvm, name, program, true);
    }

    /** Returns whether it runs the tasks of a session. */
    boolean runsTasks() {
        return runsTasks;
    }

    String name() {
        return name;
    }

    Jvm jvm() {
        return jvm;
    }

    boolean isFinished() {
        return isFinished;
    }

    /** Returns the thread, once it has begun. */
    @Nullable
    Thread thread() {
        return thread;
    }

    boolean isParked() {
        return isParked;
    }

    /** Returns what it was parked by last. */
    @Nullable
    Object blocker() {
        return blocker;
    }

    /** Returns what it waits for, for people. */
    String state() {
        return isFinished
                ? "finished"
                : isParked
                        ? "waits for a "
                                + (blocker == null
                                        ? "wake-up"
                                        : blocker.getClass().getSimpleName())
                        : "is about to go on";
    }

    /** Begins. */
    void start() {
        jvm.after(0, () -> {
            // Not one of a pool: which one that is, and what it remembers of another actor, would depend on real time.
            Thread fresh = new Thread(THREADS, this::live, name) {
                @Override
                public void interrupt() {
                    super.interrupt();
                    // A thread that was interrupted while it waited for its turn interrupts itself then.
                    if (Thread.currentThread() != this) {
                        wake();
                    }
                }
            };
            fresh.setDaemon(true);
            fresh.start();
            scheduler.run(this);
        });
    }

    private void live() {
        turn.acquireUninterruptibly();
        thread = Thread.currentThread();
        jvm.began(this);
        try {
            if (!isKilled) {
                program.run();
            }
        } catch (Death e) {
            // That is all it takes.
        } catch (Throwable e) { // whatever it is, it is the outcome of the simulation
            failure = isKilled ? null : e;
        } finally {
            isFinished = true;
            jvm.ended(this);
            Thread.interrupted();
            scheduler.giveBack();
        }
    }

    /** Called by the scheduler only. */
    void takeTurn() {
        turn.release();
    }

    /** Called by the scheduler only, when it has the turn again. */
    void rethrow() {
        Throwable thrown = failure;
        if (thrown != null) {
            failure = null;
            throw new Violation(name + " failed by " + thrown, thrown);
        }
    }

    private void giveTurn() {
        scheduler.giveBack();
        turn.acquireUninterruptibly();
        isParked = false;
        if (isKilled) {
            throw new Death();
        }
    }

    private void resume(long sleepNumber) {
        if (sleep == sleepNumber && !isFinished) {
            sleep++;
            scheduler.run(this);
        }
    }

    /** Other threads may get on first, now and then. */
    void preempt() {
        preempt(8);
    }

    /** Other threads may get on first, once in so many times; rarely for as long as a time slice. */
    void preempt(int times) {
        if (!isKilled && jvm.random().nextInt(times) == 0) {
            sleep(jvm.random().nextLong(jvm.random().nextInt(20) == 0 ? 5_000_000 : 50_000));
        }
    }

    /** Sleeps for so long by the clock of its JVM, whatever happens. */
    void sleep(long nanos) {
        if (isKilled) {
            throw new Death();
        }
        if (!jvm.pass(nanos)) {
            long number = ++sleep;
            jvm.after(nanos, () -> resume(number));
            giveTurn();
        }
    }

    /** Sleeps until it is woken or interrupted, or that much time has passed by the clock of its JVM. */
    void park(@Nullable Object blockedBy, long nanos) {
        if (isKilled) {
            throw new Death();
        }
        boolean sleeps = !hasPermit && !Thread.currentThread().isInterrupted() && nanos > 0;
        if (sleeps && (nanos == Long.MAX_VALUE || !jvm.pass(nanos))) {
            long number = ++sleep;
            isParked = true;
            blocker = blockedBy;
            if (nanos != Long.MAX_VALUE) {
                jvm.after(nanos, () -> resume(number));
            }
            giveTurn();
        }
        hasPermit = false;
    }

    /** Ends its sleep in {@link #park}, or the next one. */
    void unpark() {
        if (!hasPermit) {
            hasPermit = true;
            wake();
        }
    }

    /** Interrupts the thread, if it lives. */
    void interrupt() {
        Thread interrupted = thread;
        if (interrupted != null && !isFinished) {
            interrupted.interrupt();
        }
    }

    private void wake() {
        if (isParked) {
            long number = sleep;
            jvm.after(jvm.wakeUpNanos(), () -> resume(number));
        }
    }

    /** Unwinds the thread. Called by events only. */
    void kill() {
        if (!isFinished && !isKilled) {
            isKilled = true;
            if (thread != null) {
                sleep++;
                scheduler.run(this);
            } else {
                isFinished = true;
            }
        }
    }
}
