package dev.interlock.internal.lock;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The local half of a read-write lock, which goes on being usable when the remote half is lost: see {@link Halves}. */
public final class ReadWriteHalves extends Halves<LocalReadWriteLock> implements LocalReadWriteLock {
    private static final Way<LocalReadWriteLock> SHARE = new Share();

    private final Lock shares = new Shares();

    /**
     * Creates it.
     *
     * @param home the superclass of the lock
     * @param fair whether that is fair
     * @param spares makes halves that take its place
     * @param clock tells real time, in nanoseconds
     */
    public ReadWriteHalves(
            LocalReadWriteLock home, boolean fair, Supplier<? extends LocalReadWriteLock> spares, LongSupplier clock) {
        super(home, fair, spares, clock);
    }

    @Override
    public Lock readLock() {
        return shares;
    }

    @Override
    public int sharedHolds() {
        return mine().sharedHolds();
    }

    @Override
    public int shares() {
        return current().shares();
    }

    @Override
    public boolean isOwned() {
        return current().isOwned();
    }

    /** Takes a share. */
    private static final class Share implements Way<LocalReadWriteLock> {
        @Override
        public boolean isShared() {
            return true;
        }

        @Override
        public boolean takeAtOnce(LocalReadWriteLock half) {
            return half.readLock().tryLock();
        }

        @Override
        public boolean take(LocalReadWriteLock half, long waitNanos) throws InterruptedException {
            return half.readLock().tryLock(waitNanos, NANOSECONDS);
        }

        @Override
        public void giveBack(LocalReadWriteLock half) {
            half.readLock().unlock();
        }
    }

    /** What shares it. */
    private final class Shares implements Lock {
        @Override
        public void lock() {
            takeUninterruptibly(SHARE);
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            take(SHARE, true, Long.MAX_VALUE);
        }

        @Override
        public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
            return take(SHARE, true, unit.toNanos(wait));
        }

        @Override
        public boolean tryLock() {
            return takeAtOnce(SHARE);
        }

        @Override
        public void unlock() {
            giveBack(SHARE);
        }

        @Override
        public Condition newCondition() {
            throw new UnsupportedOperationException("a share has no conditions");
        }
    }
}
