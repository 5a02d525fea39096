package dev.interlock.simulation;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** A thread that runs tasks, one after the other, which may sleep and be interrupted; until a stage completes. */
final class OwnThread implements Executor {
    private final Jvm jvm;
    private final String name;
    private final Deque<Runnable> tasks = new ArrayDeque<>();

    /** Created for the first task. */
    private @Nullable Actor actor;

    private boolean isOver;

    OwnThread(Jvm jvm, String name, CompletionStage<?> until) {
        this.jvm = jvm;
        this.name = name;
        until.whenComplete((done, failure) -> {
            isOver = true;
            wake();
        });
    }

    @Override
    public void execute(Runnable task) {
        if (isOver) {
            throw new RejectedExecutionException(name + " is over");
        }
        tasks.add(task);
        if (actor == null) {
            Actor first = new Actor(jvm, name, this::run);
            actor = first;
            first.start();
        } else {
            wake();
        }
    }

    private void wake() {
        if (actor != null) {
            actor.unpark();
        }
    }

    private void run() {
        Actor self = jvm.thread("run tasks");
        while (true) {
            Runnable task = tasks.poll();
            // As a pool's threads do between tasks.
            Thread.interrupted();
            if (task != null) {
                self.sleep(jvm.wakeUpNanos());
                task.run();
            } else if (isOver) {
                return;
            } else {
                self.park(this, Long.MAX_VALUE);
            }
        }
    }
}
