package dev.interlock.barrier.fleet;

import static java.util.Objects.requireNonNull;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.rig.Session;
import dev.interlock.testing.rig.Subject;
import dev.interlock.testing.rig.Verbs;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A barrier with some parties.
 *
 * <p>Its verbs are {@code await}, for no longer than some ms, if they are given; {@code interrupt} another thread;
 * {@code reset}; and {@code linger}: the action of the next generation takes so many ms, or fails if that is negative.
 */
final class BarrierSubject implements Subject {

    private final Map<String, Thread> waiting = new ConcurrentHashMap<>();
    private volatile long lingerMillis;

    @Override
    public long waiting(Keyspace keyspace, String name) {
        Object arrived = keyspace.server().command("HGET", "interlock:{" + name + "}:barrier", "arrived");
        return arrived == null ? -1 : Long.parseLong(arrived.toString());
    }

    @Override
    public Verbs open(Session session) {
        int parties = Integer.parseInt(session.words().get(0));
        DistributedCyclicBarrier barrier =
                session.interlock().cyclicBarrier(session.name(), parties, () -> act(session));
        return new Verbs()
                .on("await", words -> "MET " + meet(barrier, words) + " " + Monotonic.nanos())
                .on("interrupt", words -> {
                    requireNonNull(waiting.get(words.get(0))).interrupt();
                    return "INTERRUPTED";
                })
                .on("reset", words -> {
                    barrier.reset();
                    return "RESET";
                })
                .on("linger", words -> {
                    lingerMillis = Long.parseLong(words.get(0));
                    return "LINGERS";
                });
    }

    private void act(Session session) {
        long millis = lingerMillis;
        lingerMillis = 0;
        session.say(Thread.currentThread().getName() + " ACTS");
        if (millis < 0) {
            throw new IllegalStateException("so told");
        }
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() - until < 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private String meet(DistributedCyclicBarrier barrier, List<String> words) {
        Thread self = Thread.currentThread();
        waiting.put(self.getName(), self);
        try {
            int index = words.isEmpty()
                    ? barrier.await()
                    : barrier.await(Long.parseLong(words.get(0)), TimeUnit.MILLISECONDS);
            return Integer.toString(index);
        } catch (Exception e) {
            return e.getClass().getSimpleName();
        }
    }
}
