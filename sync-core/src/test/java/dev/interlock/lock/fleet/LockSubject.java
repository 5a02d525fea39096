package dev.interlock.lock.fleet;

import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.LockOptions;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Session;
import dev.interlock.testing.rig.Subject;
import dev.interlock.testing.rig.Verbs;
import java.time.Duration;
import java.util.concurrent.locks.Condition;

/** A lock, of a kind that is {@code plain}, {@code fair}, or for how many ms the lock is retained. */
public final class LockSubject implements Subject {

    @Override
    public long waiting(Keyspace keyspace, String name) {
        return keyspace.waiting(name);
    }

    @Override
    public Verbs open(Session session) {
        DistributedReentrantLock lock = lock(session, session.words().get(0));
        Condition condition = lock.newCondition();
        lock.onLost(loss -> session.sayLost("lock", loss));
        return new Verbs()
                .section("lock", lock::lock, lock::unlock, lock::fencingToken)
                .on("take", words -> {
                    session.interlock().lock(words.get(0)).lockInterruptibly();
                    return "TOOK " + words.get(0);
                })
                .on("drop", words -> {
                    session.interlock().lock(words.get(0)).unlock();
                    return "DROPPED " + words.get(0);
                })
                .asserting("assert", lock::assertHeld)
                .on("token", words -> "TOKEN " + lock.fencingToken())
                .on("holds", words -> "HOLDS " + lock.isHeldByCurrentThread() + " " + lock.getHoldCount())
                .on("queue", words -> "QUEUE " + lock.getQueueLength())
                .on("await", words -> {
                    waitOnce(condition);
                    return "RETURNED " + Monotonic.nanos() + " " + lock.getHoldCount();
                })
                .on("signal", words -> {
                    condition.signal();
                    return "SIGNALLED";
                })
                .on("signalAll", words -> {
                    condition.signalAll();
                    return "SIGNALLED";
                });
    }

    /** Has a thread lock, and returns when it stands in the queue of its own JVM, as the only one. */
    public static void queueLocally(Peer peer, String thread) {
        peer.tell(thread, "lock");
        await("a local waiter").atMost(Peer.ANSWER).until(() -> peer.number("observer", "queue", "QUEUE") == 1);
    }

    private static DistributedReentrantLock lock(Session session, String kind) {
        return switch (kind) {
            case "plain" -> session.interlock().lock(session.name());
            case "fair" -> session.interlock().fairLock(session.name());
            default ->
                session.interlock().lock(session.name(), LockOptions.retain(Duration.ofMillis(Long.parseLong(kind))));
        };
    }

    @SuppressWarnings("WaitNotInLoop") // What ends it is the question.
    private static void waitOnce(Condition condition) {
        condition.awaitUninterruptibly();
    }
}
