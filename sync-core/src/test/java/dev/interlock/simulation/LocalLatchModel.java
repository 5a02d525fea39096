package dev.interlock.simulation;

import dev.interlock.internal.latch.LocalLatch;
import java.util.ArrayList;
import java.util.List;

/** What a latch's JDK superclass does for it: a {@link java.util.concurrent.CountDownLatch} of one. */
final class LocalLatchModel implements LocalLatch {
    private final Jvm jvm;
    private final List<Actor> waiting = new ArrayList<>();
    private boolean isOpen;

    LocalLatchModel(Jvm jvm) {
        this.jvm = jvm;
    }

    @Override
    public boolean await(long nanos) throws InterruptedException {
        Actor actor = jvm.thread("wait for a latch");
        actor.preempt();
        long start = jvm.clock();
        waiting.add(actor);
        try {
            while (true) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (isOpen) {
                    return true;
                }
                long left = nanos - (jvm.clock() - start);
                if (left <= 0) {
                    return false;
                }
                actor.park("the local half of a latch", left);
            }
        } finally {
            waiting.remove(actor);
        }
    }

    @Override
    public void open() {
        isOpen = true;
        waiting.forEach(Actor::unpark);
    }
}
