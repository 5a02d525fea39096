package dev.interlock.readwrite;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** The two locks that a read-write lock consists of. */
enum View {
    READ {
        @Override
        Lock of(ReentrantReadWriteLock lock) {
            return lock.readLock();
        }
    },
    WRITE {
        @Override
        Lock of(ReentrantReadWriteLock lock) {
            return lock.writeLock();
        }
    };

    abstract Lock of(ReentrantReadWriteLock lock);

    final void assertHeld(ReentrantReadWriteLock lock, int holds) {
        ReadWriteLockFixture.assertHolds(lock, this == WRITE ? holds : 0, this == READ ? holds : 0);
    }

    /** Two views that exclude each other when different threads want them. */
    enum Conflict {
        WRITE_AGAINST_READ(View.READ, View.WRITE),
        READ_AGAINST_WRITE(View.WRITE, View.READ),
        WRITE_AGAINST_WRITE(View.WRITE, View.WRITE);

        final View held;
        final View wanted;

        Conflict(View held, View wanted) {
            this.held = held;
            this.wanted = wanted;
        }
    }
}
