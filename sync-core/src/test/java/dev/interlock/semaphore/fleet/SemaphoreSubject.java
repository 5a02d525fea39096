package dev.interlock.semaphore.fleet;

import dev.interlock.DistributedSemaphore;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.rig.Session;
import dev.interlock.testing.rig.Subject;
import dev.interlock.testing.rig.Verbs;

/** A semaphore of some {@link Kind} with {@link #PERMITS} permits. A thread is inside of some permits. */
final class SemaphoreSubject implements Subject {

    static final int PERMITS = 5;

    /** What to enter and to leave with so many permits. */
    static String permits(int permits) {
        return "permits " + permits;
    }

    @Override
    public long waiting(Keyspace keyspace, String name) {
        return keyspace.server().command("ZCARD", "interlock:{" + name + "}:semaphore-queue") instanceof Long waiting
                ? waiting
                : -1;
    }

    @Override
    public Verbs open(Session session) {
        Kind kind = Kind.valueOf(session.words().get(0));
        DistributedSemaphore semaphore = kind.of(session.interlock(), session.name(), PERMITS);
        semaphore.onLost(loss -> session.sayLost("semaphore", loss));
        return new Verbs()
                .section("permits", semaphore::acquire, semaphore::release)
                .on("try", words -> "TRIED " + semaphore.tryAcquire(Verbs.permits(words)))
                .on("available", words -> "AVAILABLE " + semaphore.availablePermits());
    }
}
