package dev.interlock.simulation;

import static java.util.Objects.requireNonNull;

import dev.interlock.internal.redis.AnswerSpinner;
import dev.interlock.internal.session.Environment;
import dev.interlock.internal.session.LeaseRenewer.Scheduled;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** What a session runs on in a simulated JVM. */
final class SimulatedEnvironment implements Environment {
    private final Jvm jvm;
    private final String id;
    private final int namesASecond;
    private final Random random;
    private long spinnerNanos;

    /** Looks once and doesn't spin, since time doesn't pass meanwhile. */
    private final AnswerSpinner spinner = new AnswerSpinner(() -> spinnerNanos += 1_000_000);

    /** The thread that runs tasks, if other threads get on meanwhile. */
    private final @Nullable Actor timer;

    private final Deque<Runnable> due = new ArrayDeque<>();
    private boolean isBegun;
    private boolean isRunningTask;
    private boolean isStopped;

    /**
     * Creates what a session runs on.
     *
     * @param isPreempted whether other threads get on while a task runs
     * @param namesASecond how many names the session asks about in a second
     */
    SimulatedEnvironment(Jvm jvm, String id, boolean isPreempted, int namesASecond) {
        this.jvm = jvm;
        this.id = id;
        this.namesASecond = namesASecond;
        this.timer = isPreempted ? Actor.ofTasks(jvm, jvm.name() + ".task", this::runTasks) : null;
        this.random = new Random(jvm.random().nextLong());
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public long nanoTime() {
        return jvm.clock();
    }

    @Override
    public boolean isTimerThread() {
        return isRunningTask && jvm.scheduler().current() == timer;
    }

    @Override
    public Scheduled schedule(Runnable task, long millis) {
        AtomicBoolean isCancelled = new AtomicBoolean();
        jvm.after(TimeUnit.MILLISECONDS.toNanos(millis) + jvm.wakeUpNanos(), () -> {
            if (isCancelled.get()) {
                return;
            }
            due.add(task);
            if (timer == null) {
                runDue();
            } else if (isBegun) {
                timer.unpark();
            } else {
                isBegun = true;
                timer.start();
            }
        });
        return () -> isCancelled.set(true);
    }

    private void runTasks() {
        Actor self = requireNonNull(timer);
        while (!isStopped) {
            runDue();
            self.park(this, Long.MAX_VALUE);
        }
    }

    private void runDue() {
        isRunningTask = true;
        try {
            while (!isStopped && !due.isEmpty()) {
                due.remove().run();
            }
        } finally {
            isRunningTask = false;
        }
    }

    @Override
    public Executor listeners() {
        return task -> jvm.after(jvm.wakeUpNanos(), task);
    }

    @Override
    public Executor threadOfItsOwn(String role, CompletionStage<?> until) {
        return new OwnThread(jvm, jvm.name() + "." + role, until);
    }

    @Override
    public Executor continuations() {
        return listeners();
    }

    @Override
    public void park(Object blocker, long nanos) {
        jvm.thread("sleep").park(blocker, nanos);
    }

    @Override
    public void unpark(Thread thread) {
        Actor actor = jvm.actorOf(thread);
        if (actor != null) {
            actor.unpark();
        }
    }

    @Override
    public AnswerSpinner spinner() {
        return spinner;
    }

    @Override
    public int namesASecond() {
        return namesASecond;
    }

    @Override
    public RandomGenerator random() {
        return random;
    }

    @Override
    public void stop() {
        isStopped = true;
    }
}
