package dev.interlock.lock.fleet.section;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.rig.Log;
import dev.interlock.testing.rig.LogFormat;
import dev.interlock.testing.rig.Work;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;

/** Critical sections under a lock, one after the other, each recorded that was still the owner's at its end. */
public abstract class SectionWork implements Work {

    /** Time for a context switch. */
    private static final long LONG_SECTION_NANOS = 20_000;

    private final Lock lock;
    private final int longSection;

    /**
     * Work with a lock.
     *
     * @param longSection every so many sections one stays inside across a context switch
     */
    protected SectionWork(Lock lock, int longSection) {
        this.lock = lock;
        this.longSection = longSection;
    }

    @Override
    public final LogFormat<?> format() {
        return Section.LOG;
    }

    @Override
    public final void once(int thread, Log log) {
        lock.lock();
        try {
            run(log);
        } finally {
            lock.unlock();
        }
    }

    private void run(Log log) {
        var fenced = lock instanceof DistributedReentrantLock ours ? ours : null;
        long enter = Monotonic.nanos();
        long token = fenced == null ? Section.NO_TOKEN : fenced.fencingToken();
        if (log.size() % longSection == 0) {
            LockSupport.parkNanos(LONG_SECTION_NANOS);
        }
        long exit = Monotonic.nanos();
        if (fenced != null) {
            fenced.assertHeld();
        }
        log.add(enter, exit, token);
    }

    @Override
    public final String toString() {
        return lock.toString();
    }
}
