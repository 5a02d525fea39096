package dev.interlock.simulation;

import dev.interlock.internal.redis.AnswerSpinner;
import dev.interlock.internal.session.Environment;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** What a session runs on in a simulated JVM. */
final class SimulatedEnvironment implements Environment {
    private final Jvm jvm;
    private final String id;
    private final Random random;
    private long spinnerNanos;

    /** Looks once and doesn't spin, since time doesn't pass meanwhile. */
    private final AnswerSpinner spinner = new AnswerSpinner(() -> spinnerNanos += 1_000_000);

    private boolean isRunningTask;
    private boolean isStopped;

    SimulatedEnvironment(Jvm jvm, String id) {
        this.jvm = jvm;
        this.id = id;
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
        return isRunningTask && jvm.scheduler().current() == null;
    }

    @Override
    public void schedule(Runnable task, long millis) {
        jvm.after(TimeUnit.MILLISECONDS.toNanos(millis) + jvm.wakeUpNanos(), () -> {
            if (!isStopped) {
                isRunningTask = true;
                try {
                    task.run();
                } finally {
                    isRunningTask = false;
                }
            }
        });
    }

    @Override
    public Executor listeners() {
        return task -> jvm.after(jvm.wakeUpNanos(), task);
    }

    @Override
    public void park(Object blocker, long nanos) {
        Actor actor = jvm.actorOf(Thread.currentThread());
        if (actor == null) {
            throw new Violation("a task of the session would sleep");
        }
        actor.park(blocker, nanos);
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
    public RandomGenerator random() {
        return random;
    }

    @Override
    public void stop() {
        isStopped = true;
    }
}
