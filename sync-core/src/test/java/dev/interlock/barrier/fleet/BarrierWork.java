package dev.interlock.barrier.fleet;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Log;
import dev.interlock.testing.rig.LogFormat;
import dev.interlock.testing.rig.SessionWork;
import dev.interlock.testing.rig.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.BrokenBarrierException;

/** Threads go through one generation of a barrier after the other; the actions have a log of their own. */
final class BarrierWork extends SessionWork {

    private final DistributedCyclicBarrier barrier;
    private final Log actions;

    /** Takes the parties. */
    BarrierWork(Task task) throws IOException {
        super(RedisServer.connect(() -> Interlock.connect(task.url())));
        actions = Visit.LOG.open(actions(task.file()), 1).get(0);
        barrier = interlock().cyclicBarrier(task.name(), task.number(0), this::act);
    }

    /** Where actions are recorded. */
    static Path actions(Path file) {
        return file.resolveSibling(file.getFileName() + "-actions");
    }

    @Override
    public LogFormat<?> format() {
        return Visit.LOG;
    }

    private void act() {
        long came = Monotonic.nanos();
        actions.add(came, Monotonic.nanos(), actions.size(), Visit.ACTION);
    }

    @Override
    public void once(int thread, Log log) throws InterruptedException {
        long came = Monotonic.nanos();
        try {
            int index = barrier.await();
            log.add(came, Monotonic.nanos(), log.size(), index);
        } catch (BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public String toString() {
        return barrier.toString();
    }
}
