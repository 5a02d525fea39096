package dev.interlock.barrier.fleet;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.rig.Session;
import dev.interlock.testing.rig.Subject;
import dev.interlock.testing.rig.Verbs;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A barrier with some parties.
 *
 * <p>Its verbs are {@code await}, {@code reset} and {@code linger}: the action of the next generation takes so many ms.
 */
final class BarrierSubject implements Subject {

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
                .on("await", words -> "MET " + meet(barrier) + " " + Monotonic.nanos())
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
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() - until < 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static String meet(DistributedCyclicBarrier barrier) {
        try {
            return Integer.toString(barrier.await());
        } catch (Exception e) {
            return e.getClass().getSimpleName();
        }
    }
}
