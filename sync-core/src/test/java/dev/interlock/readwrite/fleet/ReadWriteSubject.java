package dev.interlock.readwrite.fleet;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.Crew;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.rig.Session;
import dev.interlock.testing.rig.Subject;
import dev.interlock.testing.rig.Verbs;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;

/** A read-write lock, {@code plain} or {@code fair}. */
final class ReadWriteSubject implements Subject {

    static DistributedReadWriteLock lock(Interlock interlock, String name, String kind) {
        return kind.equals("fair") ? interlock.fairReadWriteLock(name) : interlock.readWriteLock(name);
    }

    @Override
    public long waiting(Keyspace keyspace, String name) {
        return keyspace.waiting("interlock:{" + name + "}:rw");
    }

    @Override
    public Verbs open(Session session) {
        var lock = lock(session.interlock(), session.name(), session.words().get(0));
        var read = lock.readLock();
        var write = lock.writeLock();
        var condition = write.newCondition();
        var stream = new Stream(lock, session);
        lock.onLost(loss -> session.sayLost("lock", loss));
        return new Verbs()
                .section("read", any -> read.lock(), any -> read.unlock())
                .asserting("assert-read", read::assertHeld)
                .section("write", any -> write.lock(), any -> write.unlock(), write::fencingToken)
                .asserting("assert-write", write::assertHeld)
                .on("try-write", words -> "TRIED " + write.tryLock(1, TimeUnit.SECONDS))
                .on("token", words -> "TOKEN " + write.fencingToken())
                .on("holds", words -> "HOLDS " + holds(lock))
                .on("await", words -> {
                    waitOnce(condition);
                    return "RETURNED " + Monotonic.nanos() + " " + holds(lock);
                })
                .on("signal", words -> {
                    condition.signal();
                    return "SIGNALLED";
                })
                .on("stream", words -> {
                    stream.start();
                    return "STREAMS";
                })
                .on("end-stream", words -> "STREAMED " + stream.end());
    }

    private static String holds(DistributedReadWriteLock lock) {
        return lock.getReadHoldCount() + " " + lock.getWriteHoldCount();
    }

    @SuppressWarnings("WaitNotInLoop") // What ends it is the question.
    private static void waitOnce(Condition condition) {
        condition.awaitUninterruptibly();
    }

    /** Readers that come and go, the next one before the last one leaves. */
    private static final class Stream {

        private static final int THREADS = 3;
        private static final long STAY_NANOS = 3_000_000;
        private static final Duration END = Duration.ofSeconds(20);

        private final DistributedReadWriteLock lock;
        private final Session session;
        private final Crew crew = new Crew();
        private final AtomicLong passages = new AtomicLong();
        private volatile boolean isOver;

        Stream(DistributedReadWriteLock lock, Session session) {
            this.lock = lock;
            this.session = session;
        }

        void start() {
            for (int i = 0; i < THREADS; i++) {
                crew.start(this::readOn);
            }
        }

        private void readOn() {
            while (!isOver) {
                try {
                    lock.readLock().lock();
                    try {
                        LockSupport.parkNanos(STAY_NANOS);
                        lock.readLock().assertHeld();
                        passages.incrementAndGet();
                    } finally {
                        lock.readLock().unlock();
                    }
                } catch (LeaseLostException e) {
                    session.say("STREAM-LOST");
                }
            }
        }

        /** Returns how many passages there were. */
        long end() {
            isOver = true;
            crew.join(END);
            return passages.get();
        }
    }
}
