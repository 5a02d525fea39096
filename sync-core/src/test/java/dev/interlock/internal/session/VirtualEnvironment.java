package dev.interlock.internal.session;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.SyncListener;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.redis.AnswerSpinner;
import dev.interlock.internal.redis.Node;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.LeaseRenewer.Scheduled;
import java.util.HashSet;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time and a queue of tasks, all on one thread. Time passes when the test lets it, by {@link #advance}, or when
 * the thread parks: then the tasks run that are due until it is woken. So each run is the same, and takes no time.
 *
 * <p>The clock overflows within the first seconds: only differences of its readings mean anything.
 */
public final class VirtualEnvironment implements Environment {
    /** The lease of {@link #session(SyncListener)}. */
    public static final long LEASE_MILLIS = 30_000;

    /** For how long a command of that session may be silent. */
    public static final long COMMAND_MILLIS = 3_000;

    /** For how long an outage may last before a wait without end fails. */
    public static final long OUTAGE_MILLIS = 10_000;

    private record Task(long atNanos, long number, boolean isListener, Runnable action) {}

    private final long startNanos = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(5);
    private final PriorityQueue<Task> tasks = new PriorityQueue<>(VirtualEnvironment::compare);
    private final Set<Thread> woken = new HashSet<>();
    private final RandomGenerator random = new Random(1);

    /** Looks once and doesn't spin, since time doesn't pass meanwhile. */
    private final AnswerSpinner spinner = new AnswerSpinner(this::spinnerNanos);

    private long nanos = startNanos;
    private long lastNumber;
    private long spinnerNanos;
    private boolean isRunningTask;
    private boolean isStopped;

    private static int compare(Task a, Task b) {
        int byTime = Long.signum(a.atNanos - b.atNanos);
        return byTime != 0 ? byTime : Long.compare(a.number, b.number);
    }

    /** Returns settings by the virtual clock. */
    public Settings settings(SyncListener listener) {
        return new Settings(
                LEASE_MILLIS,
                TimeUnit.MILLISECONDS.toNanos(10),
                true,
                false,
                false,
                TimeUnit.MILLISECONDS.toNanos(OUTAGE_MILLIS),
                COMMAND_MILLIS,
                0,
                "",
                "test",
                new Listeners(listener),
                this::nanoTime);
    }

    /** Returns a session in this environment, over a Redis that is played by the test. It doesn't beat yet. */
    public RedisSession session(SyncListener listener, FakeRunner runner, FakeMailbox mailbox) {
        Settings settings = settings(listener);
        Node node = new Node(runner, mailbox, new Outage(id(), settings, listeners()));
        return new RedisSession(settings, this, node, new NoChannels(), () -> {});
    }

    /** Returns a session whose Redis is of no interest. */
    public RedisSession session(SyncListener listener) {
        return session(listener, new FakeRunner(), new FakeMailbox());
    }

    /** Returns how much virtual time has passed. */
    public long elapsedMillis() {
        return TimeUnit.NANOSECONDS.toMillis(nanos - startNanos);
    }

    /** Returns how many tasks are scheduled. */
    public int taskCount() {
        return tasks.size();
    }

    /** Lets time pass, and runs what is due meanwhile. */
    public void advance(long millis) {
        long until = nanos + TimeUnit.MILLISECONDS.toNanos(millis);
        while (runNext(until)) {
            // The next one may be due as well.
        }
        nanos = until;
    }

    /** Runs what is due now. */
    public void runDue() {
        advance(0);
    }

    private boolean runNext(long untilNanos) {
        Task next = tasks.peek();
        if (next == null || next.atNanos - untilNanos > 0) {
            return false;
        }
        tasks.remove();
        nanos = next.atNanos - nanos > 0 ? next.atNanos : nanos;
        boolean isNested = isRunningTask;
        isRunningTask = true;
        try {
            next.action.run();
        } finally {
            isRunningTask = isNested;
        }
        return true;
    }

    @CanIgnoreReturnValue
    private Scheduled add(long delayNanos, boolean isListener, Runnable action) {
        Task task = new Task(nanos + delayNanos, ++lastNumber, isListener, action);
        tasks.add(task);
        return () -> tasks.remove(task);
    }

    @Override
    public void park(@Nullable Object blocker, long parkNanos) {
        Thread thread = Thread.currentThread();
        boolean isEndless = parkNanos == Long.MAX_VALUE;
        long until = nanos + parkNanos;
        while (!woken.remove(thread) && !thread.isInterrupted()) {
            Task next = tasks.peek();
            if (isEndless && next == null) {
                throw new AssertionError("nothing will ever wake the thread");
            }
            if (!runNext(isEndless && next != null ? next.atNanos : until)) {
                nanos = until;
                return;
            }
        }
    }

    @Override
    public void unpark(Thread thread) {
        woken.add(thread);
    }

    @Override
    public Scheduled schedule(Runnable task, long millis) {
        return isStopped ? () -> {} : add(TimeUnit.MILLISECONDS.toNanos(millis), false, task);
    }

    @Override
    public Executor listeners() {
        return task -> add(0, true, task);
    }

    @Override
    public Executor continuations() {
        return listeners();
    }

    @Override
    public String id() {
        return "interlock-virtual";
    }

    @Override
    public long nanoTime() {
        return nanos;
    }

    @Override
    public boolean isTimerThread() {
        return isRunningTask;
    }

    @Override
    public AnswerSpinner spinner() {
        return spinner;
    }

    private long spinnerNanos() {
        spinnerNanos += TimeUnit.MILLISECONDS.toNanos(1);
        return spinnerNanos;
    }

    @Override
    public RandomGenerator random() {
        return random;
    }

    @Override
    public void stop() {
        isStopped = true;
        tasks.removeIf(task -> !task.isListener);
    }
}
