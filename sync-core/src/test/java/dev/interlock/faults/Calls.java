package dev.interlock.faults;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.SemaphoreOptions;
import dev.interlock.faults.Wait.Step;
import dev.interlock.faults.Waits.Side;
import dev.interlock.ratelimit.OutagePolicy;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RSemaphore;

/** What threads ask and say, each with a thread and a name of its own. */
final class Calls {
    /**
     * A call.
     *
     * @param before what its thread has done before
     * @param isRefused whether it can't return if Redis refuses it
     */
    record Call(String what, Step before, Step call, boolean isRefused) {
        @Override
        public String toString() {
            return what;
        }
    }

    private static final RateLimit LIMIT = RateLimit.fixedWindow(1_000, Duration.ofHours(1));

    private final Side side;
    private final Duration timed;
    private final Interlock session;
    private final List<Call> all = new ArrayList<>();
    private int names;

    /**
     * Makes them.
     *
     * @param timed how long timed calls may take
     */
    Calls(Side side, Duration timed) {
        this.side = side;
        this.timed = timed;
        this.session = side.session();
        for (LockKind kind : LockKind.values()) {
            locks(kind);
        }
        conditions();
        semaphores();
        latches();
        barriers();
        rates();
        sessions();
        adapted();
        quorum();
    }

    List<Call> all() {
        return all;
    }

    private String nextName() {
        return "call-" + names++;
    }

    private void asks(String what, Step call) {
        all.add(new Call(what, () -> {}, call, true));
    }

    private void gives(String what, Step before, Step call) {
        all.add(new Call(what, before, call, false));
    }

    // ---- locks

    private void locks(LockKind kind) {
        String of = kind + ".";
        asks(of + "lock()", kind.of(session, nextName())::lock);
        asks(of + "lockInterruptibly()", kind.of(session, nextName())::lockInterruptibly);
        asks(of + "tryLock()", kind.of(session, nextName())::tryLock);
        Lock timed = kind.of(session, nextName());
        asks(of + "tryLock(timed)", () -> timed.tryLock(this.timed.toMillis(), TimeUnit.MILLISECONDS));
        Lock held = kind.of(session, nextName());
        gives(of + "unlock()", held::lock, held::unlock);
        if (kind.of(session, nextName()) instanceof DistributedReentrantLock lock) {
            asks(of + "isRemotelyLocked()", lock::isRemotelyLocked);
        }
    }

    private void conditions() {
        for (LockKind kind : List.of(LockKind.PLAIN, LockKind.FAIR, LockKind.WRITE)) {
            condition(kind, "await()", Condition::await);
            condition(kind, "awaitUninterruptibly()", Condition::awaitUninterruptibly);
            condition(kind, "await(timed)", condition -> condition.await(timed.toMillis(), TimeUnit.MILLISECONDS));
            // Whether it was signalled before its time was over, Redis has to decide.
            condition(kind, "await(1 ms)", condition -> condition.await(1, TimeUnit.MILLISECONDS));
            if (kind.of(session, nextName()) instanceof DistributedReentrantLock lock) {
                Condition seen = lock.newCondition();
                gives("getWaitQueueLength()", lock::lock, () -> lock.getWaitQueueLength(seen));
            }
            Lock lock = kind.of(session, nextName());
            Condition signalled = lock.newCondition();
            gives(kind + " condition.signal()", lock::lock, () -> {
                signalled.signal();
                lock.unlock();
            });
        }
    }

    private interface Way {
        void at(Condition condition) throws Exception;
    }

    private void condition(LockKind kind, String call, Way way) {
        Lock lock = kind.of(session, nextName());
        Condition condition = lock.newCondition();
        all.add(new Call(kind + " condition." + call, lock::lock, () -> way.at(condition), true));
    }

    // ---- permits, latches, barriers, rates

    private void semaphores() {
        for (SemaphoreOptions options : List.of(SemaphoreOptions.unowned(), SemaphoreOptions.fair())) {
            String of = options + ".";
            semaphore(of + "acquire()", options, DistributedSemaphore::acquire);
            semaphore(of + "tryAcquire()", options, DistributedSemaphore::tryAcquire);
            semaphore(
                    of + "tryAcquire(timed)",
                    options,
                    semaphore -> semaphore.tryAcquire(timed.toMillis(), TimeUnit.MILLISECONDS));
            semaphore(of + "availablePermits()", options, DistributedSemaphore::availablePermits);
            semaphore(of + "drainPermits()", options, DistributedSemaphore::drainPermits);
            semaphore(of + "resize()", options, semaphore -> semaphore.resize(3));
            DistributedSemaphore given = session.semaphore(nextName(), 1, options);
            gives(of + "release()", given::acquire, given::release);
            DistributedSemaphore reduced = session.semaphore(nextName(), 1, options);
            gives(of + "reducePermits()", () -> {}, () -> reduced.reducePermits(1));
        }
        asks("semaphore()", () -> session.semaphore("another", 1));
    }

    private interface SemaphoreCall {
        void at(DistributedSemaphore semaphore) throws Exception;
    }

    private void semaphore(String what, SemaphoreOptions options, SemaphoreCall call) {
        DistributedSemaphore semaphore = session.semaphore(nextName(), 2, options);
        asks(what, () -> call.at(semaphore));
    }

    private void latches() {
        DistributedCountDownLatch counted = session.countDownLatch(nextName(), 1);
        asks("latch.countDown()", counted::countDown);
        DistributedCountDownLatch seen = session.countDownLatch(nextName(), 1);
        asks("latch.getCount()", seen::getCount);
        DistributedCountDownLatch awaited = session.countDownLatch(nextName(), 1);
        asks("latch.await()", awaited::await);
        DistributedCountDownLatch tried = session.countDownLatch(nextName(), 1);
        asks("latch.await(0)", () -> tried.await(0, TimeUnit.SECONDS));
        asks("countDownLatch()", () -> session.countDownLatch("another", 1));
    }

    private void barriers() {
        DistributedCyclicBarrier awaited = session.cyclicBarrier(nextName(), 2);
        asks("barrier.await()", awaited::await);
        DistributedCyclicBarrier timed = session.cyclicBarrier(nextName(), 2);
        asks("barrier.await(timed)", () -> timed.await(this.timed.toMillis(), TimeUnit.MILLISECONDS));
        DistributedCyclicBarrier seen = session.cyclicBarrier(nextName(), 2);
        asks("barrier.isBroken()", seen::isBroken);
        DistributedCyclicBarrier reset = session.cyclicBarrier(nextName(), 2);
        asks("barrier.reset()", reset::reset);
        asks("cyclicBarrier()", () -> session.cyclicBarrier("another", 2));
    }

    private void rates() {
        RateLimiter limiter = session.rateLimiter(nextName(), LIMIT);
        asks("rateLimiter.acquire()", limiter::acquire);
        asks("rateLimiter.tryAcquire()", limiter::tryAcquire);
        asks("rateLimiter.tryAcquire(timed)", () -> limiter.tryAcquire(1, timed));
        asks("rateLimiter.update()", () -> limiter.update(LIMIT));
        asks("rateLimiter.acquireAsync()", () -> limiter.acquireAsync(1).get());
        gives("rateLimiter of a policy", () -> {}, limiter.whenUnavailable(OutagePolicy.ADMIT)::acquire);
    }

    // ---- sessions

    private void sessions() {
        asks("ping()", session::ping);
        asks("operator().sessions()", session.operator()::sessions);
        asks("operator().find()", () -> session.operator().find("*"));
        asks("operator().deadlocks()", session.operator()::deadlocks);
    }

    // ---- Redisson's objects

    private void adapted() {
        var client = side.client();
        DistributedReentrantLock locked = session.adapt(client.getLock(nextName()));
        asks("adapted lock()", locked::lock);
        DistributedReentrantLock tried = session.adapt(client.getLock(nextName()));
        asks("adapted tryLock()", tried::tryLock);
        DistributedReentrantLock seen = session.adapt(client.getLock(nextName()));
        asks("adapted isRemotelyLocked()", seen::isRemotelyLocked);
        DistributedReentrantLock held = session.adapt(client.getLock(nextName()));
        gives("adapted unlock()", held::lock, held::unlock);
        DistributedReentrantLock fenced = session.adapt(client.getFencedLock(nextName()));
        all.add(new Call("adapted fencingToken()", fenced::lock, fenced::fencingToken, true));
        DistributedReadWriteLock readWrite = session.adapt(client.getReadWriteLock(nextName()));
        asks("adapted readLock().lock()", readWrite.readLock()::lock);
        DistributedReadWriteLock read = session.adapt(client.getReadWriteLock(nextName()));
        gives("adapted readLock().unlock()", read.readLock()::lock, read.readLock()::unlock);
        DistributedReadWriteLock downgraded = session.adapt(client.getReadWriteLock(nextName()));
        gives(
                "adapted downgrade",
                () -> {
                    downgraded.writeLock().lock();
                    downgraded.readLock().lock();
                },
                () -> {
                    try {
                        downgraded.writeLock().unlock();
                    } finally {
                        downgraded.readLock().unlock();
                    }
                });
        asks("adapted semaphore.acquire()", adaptedSemaphore()::acquire);
        asks("adapted semaphore.tryAcquire()", adaptedSemaphore()::tryAcquire);
        asks("adapted semaphore.availablePermits()", adaptedSemaphore()::availablePermits);
        gives("adapted semaphore.release()", () -> {}, adaptedSemaphore()::release);
        asks("adapted latch.getCount()", adaptedLatch()::getCount);
        asks("adapted latch.countDown()", adaptedLatch()::countDown);
        asks("adapted latch.await()", adaptedLatch()::await);
    }

    private DistributedSemaphore adaptedSemaphore() {
        RSemaphore semaphore = side.client().getSemaphore(nextName());
        semaphore.trySetPermits(1);
        return session.adapt(semaphore);
    }

    private DistributedCountDownLatch adaptedLatch() {
        RCountDownLatch latch = side.client().getCountDownLatch(nextName());
        latch.trySetCount(2);
        return session.adapt(latch);
    }

    private void quorum() {
        asks("quorum lock()", side.quorum().lock(nextName())::lock);
        asks("quorum tryLock()", side.quorum().lock(nextName())::tryLock);
        asks("quorum isRemotelyLocked()", side.quorum().lock(nextName())::isRemotelyLocked);
        DistributedReentrantLock held = side.quorum().lock(nextName());
        gives("quorum unlock()", held::lock, held::unlock);
    }
}
