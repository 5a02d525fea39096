package dev.interlock.readwrite.fleet;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Log;
import dev.interlock.testing.rig.LogFormat;
import dev.interlock.testing.rig.SessionWork;
import dev.interlock.testing.rig.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;

/** Threads read and write a shared pair under a read-write lock. */
final class ReadWriteWork extends SessionWork {

    /** Every so many passages one stays inside across a context switch. */
    private static final int LONG_PASSAGE = 16;

    private static final long LONG_PASSAGE_NANOS = 20_000;

    private final DistributedReadWriteLock lock;
    private final String roles;
    private final long stayNanos;
    private final long restNanos;
    private final SharedPair pair;

    ReadWriteWork(Task task) throws IOException {
        super(RedisServer.connect(() -> Interlock.connect(task.url())));
        lock = ReadWriteSubject.lock(interlock(), task.name(), task.word(0));
        roles = task.word(1);
        stayNanos = task.duration(2).toNanos();
        restNanos = task.duration(3).toNanos();
        pair = SharedPair.open(Path.of(task.word(4)));
    }

    /**
     * What threads do.
     *
     * @param kind {@code plain} or {@code fair}
     * @param roles a letter for each: {@code r} only reads, {@code w} only writes, {@code m} writes once in ten times
     * @param stay for how long a reader stays inside
     * @param rest for how long a writer rests
     */
    record Roles(String kind, String roles, Duration stay, Duration rest) {

        /** Describes their work. */
        Task task(String url, String name, Path file, Path pair) {
            return Task.of(ReadWriteWork.class, url, name, roles.length(), file, kind, roles, stay, rest, pair);
        }
    }

    @Override
    public LogFormat<?> format() {
        return Passage.LOG;
    }

    private boolean writes(int thread, int passage) {
        return switch (roles.charAt(thread)) {
            case 'r' -> false;
            case 'w' -> true;
            default -> ThreadLocalRandom.current().nextInt(10) == 0 || passage == 0;
        };
    }

    @Override
    public void once(int thread, Log log) {
        boolean writes = writes(thread, log.size());
        Lock side = writes ? lock.writeLock() : lock.readLock();
        try {
            long begun = Monotonic.nanos();
            side.lock();
            try {
                long enter = Monotonic.nanos();
                if (writes) {
                    write(log, begun, enter);
                } else {
                    read(log, begun, enter);
                }
            } finally {
                side.unlock();
            }
        } finally {
            if (writes && restNanos > 0) {
                LockSupport.parkNanos(restNanos);
            }
        }
    }

    private void write(Log log, long begun, long enter) {
        long token = lock.writeLock().fencingToken();
        long first = pair.first();
        long second = pair.second();
        pair.setFirst(token);
        if (log.size() % LONG_PASSAGE == 0) {
            LockSupport.parkNanos(LONG_PASSAGE_NANOS);
        }
        pair.setSecond(token);
        long exit = Monotonic.nanos();
        lock.writeLock().assertHeld();
        log.add(begun, enter, exit, token, first, second);
    }

    private void read(Log log, long begun, long enter) {
        long first = pair.first();
        if (stayNanos > 0) {
            LockSupport.parkNanos(stayNanos);
        } else if (log.size() % LONG_PASSAGE == 0) {
            LockSupport.parkNanos(LONG_PASSAGE_NANOS);
        }
        long second = pair.second();
        long exit = Monotonic.nanos();
        lock.readLock().assertHeld();
        log.add(begun, enter, exit, Passage.READER, first, second);
    }

    @Override
    public String toString() {
        return lock.toString();
    }
}
