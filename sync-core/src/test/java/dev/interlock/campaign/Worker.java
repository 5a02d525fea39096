package dev.interlock.campaign;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.RedisUnavailableException;
import dev.interlock.campaign.Step.Act;
import dev.interlock.campaign.Step.End;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * A thread of the fleet that uses one synchronizer over and over, in all ways that it offers, and records each of its
 * steps.
 */
final class Worker {

    /** How many permits there are. */
    static final int PERMITS = 4;

    /** The most permits that a thread wants. */
    static final int MOST_WANTED = 3;

    /** The number of a step that asks without queueing, and may overtake those who queue. */
    static final int BARGING = 1;

    private static final int MOST_ITEMS = 5;
    private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(8);
    private static final long LONG_STAY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** So long that others queue for longer than a ticket is on its way, and their order can be judged. */
    private static final long FAIR_STAY_NANOS = TimeUnit.MILLISECONDS.toNanos(120);

    private static final long LOOK_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(40);
    private static final long MEETING_SECONDS = 8;
    private static final Duration RETENTION = Duration.ofMillis(200);
    private static final String ROOM = "room";
    private static final String GOODS = "goods";

    /** What the threads of a JVM have in common. */
    record Site(Interlock interlock, Blackboard board, int parties) {}

    /** A lock as this needs it: with its token, and with a check whether it is still held. */
    private record Held(Lock lock, LongSupplier token, Runnable assertHeld) {}

    private interface Use {
        void once() throws InterruptedException;
    }

    private final Site site;
    private final StepLog log;
    private final Random random;
    private final Use use;
    private volatile boolean stopped;

    /**
     * The threads of a JVM are of as many kinds: some take locks, some trade, share and meet, some have holds, one
     * stands.
     */
    static final int THREADS = 21;

    Worker(Site site, int index, StepLog log, long seed) {
        this.site = site;
        this.log = log;
        this.random = new Random(seed);
        this.use = use(index);
    }

    private Use use(int index) {
        Interlock interlock = site.interlock;
        return switch (index) {
            case 0, 1 -> locking(Act.LOCK, held(locked()));
            case 2, 3, 14 -> locking(Act.FAIR_LOCK, held(interlock.fairLock("campaign:fair")));
            case 4, 5 -> locking(Act.RETAINED_LOCK, held(retained()));
            case 6 -> () -> trade(true);
            case 7 -> () -> trade(false);
            case 8, 9 -> this::readOrWrite;
            case 10, 11 -> this::borrow;
            case 12 -> this::meetAtLatch;
            case 15 -> this::look;
            case 16, 17 -> holding(Act.HOLD);
            case 18 -> holding(Act.HOLD_RETAINED);
            case 19 -> holding(Act.HOLD_BOTH);
            case 20 -> leading();
            default -> this::meetAtBarrier;
        };
    }

    void stop() {
        stopped = true;
    }

    /** Uses its synchronizer once, and rests. */
    void once() {
        try {
            use.once();
        } catch (InterruptedException | RedisUnavailableException e) {
            log.end(End.GAVE_UP);
        } catch (LeaseLostException e) {
            log.end(End.LOST);
        }
        LockSupport.parkNanos((long) (random.nextDouble() * 2 * REST_NANOS));
        // An interrupt that came while this couldn't be interrupted is still there.
        var unused = Thread.interrupted();
    }

    private Use locking(Act act, Held held) {
        return () -> {
            int way = random.nextInt(8);
            log.begin(act, way == BARGING ? BARGING : 0, Monotonic.nanos());
            if (acquire(held.lock, way)) {
                try {
                    stay(act, held);
                } finally {
                    held.lock.unlock();
                }
                log.end(End.DONE);
            } else {
                log.end(End.GAVE_UP);
            }
        };
    }

    private boolean acquire(Lock lock, int way) throws InterruptedException {
        switch (way) {
            case BARGING -> {
                return lock.tryLock();
            }
            case 2 -> {
                return lock.tryLock(random.nextInt(100), TimeUnit.MILLISECONDS);
            }
            case 3 -> lock.lockInterruptibly();
            default -> lock.lock();
        }
        return true;
    }

    private void stay(Act act, Held held) {
        long entered = Monotonic.nanos();
        long token = held.token.getAsLong();
        log.enter(entered, token);
        if (act.isExclusive) {
            site.board.write(act, token);
        }
        if (act == Act.FAIR_LOCK) {
            LockSupport.parkNanos(FAIR_STAY_NANOS + random.nextInt((int) FAIR_STAY_NANOS));
        } else {
            pause();
        }
        long until = Monotonic.nanos();
        held.assertHeld.run();
        log.stillThere(until);
        if (act.isExclusive) {
            site.board.write(act, token);
        }
    }

    private void pause() {
        int what = random.nextInt(16);
        if (what == 0) {
            LockSupport.parkNanos(LONG_STAY_NANOS);
        } else if (what < 8) {
            LockSupport.parkNanos(random.nextInt(1_000_000));
        }
    }

    private void look() {
        DistributedReentrantLock own = site.interlock.lock("campaign:look:" + site.interlock.id());
        log.begin(Act.LOOK, 0, Monotonic.nanos());
        own.lock();
        own.unlock();
        log.enter(Monotonic.nanos(), 0);
        log.end(End.DONE);
        LockSupport.parkNanos(LOOK_PAUSE_NANOS);
    }

    private void trade(boolean makes) throws InterruptedException {
        DistributedReentrantLock lock = market();
        Held held = held(lock);
        Condition mine = lock.newCondition(makes ? ROOM : GOODS);
        Condition theirs = lock.newCondition(makes ? GOODS : ROOM);
        log.begin(Act.CONDITION, 0, Monotonic.nanos());
        lock.lock();
        try {
            stay(Act.CONDITION, held);
            while (!stopped && site.board.items() * (makes ? 1 : -1) >= (makes ? MOST_ITEMS : 0)) {
                log.end(End.DONE);
                log.begin(Act.CONDITION, 0, Monotonic.nanos());
                if (random.nextBoolean()) {
                    mine.await();
                } else {
                    var unused = mine.await(random.nextInt(3_000), TimeUnit.MILLISECONDS);
                }
                stay(Act.CONDITION, held);
            }
            site.board.addItems(makes ? 1 : -1);
            theirs.signal();
        } finally {
            lock.unlock();
        }
        log.end(End.DONE);
    }

    /** Has those who trade see that they are to stop. */
    void wakeTraders() {
        DistributedReentrantLock lock = market();
        lock.lock();
        try {
            lock.newCondition(ROOM).signalAll();
            lock.newCondition(GOODS).signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void readOrWrite() throws InterruptedException {
        var lock = site.interlock.readWriteLock("campaign:rooms");
        if (random.nextInt(4) == 0) {
            var write = lock.writeLock();
            locking(Act.WRITE, new Held(write, write::fencingToken, write::assertHeld))
                    .once();
        } else {
            var read = lock.readLock();
            locking(Act.READ, new Held(read, () -> 0, read::assertHeld)).once();
        }
    }

    private void borrow() throws InterruptedException {
        int permits = 1 + random.nextInt(MOST_WANTED);
        log.begin(Act.PERMITS, permits, Monotonic.nanos());
        DistributedSemaphore semaphore = site.interlock.semaphore("campaign:permits", PERMITS);
        if (random.nextInt(3) == 0) {
            if (!semaphore.tryAcquire(permits, random.nextInt(200), TimeUnit.MILLISECONDS)) {
                log.end(End.GAVE_UP);
                return;
            }
        } else {
            semaphore.acquire(permits);
        }
        long entered = Monotonic.nanos();
        log.enter(entered, 0);
        pause();
        long until = Monotonic.nanos();
        semaphore.release(permits);
        log.stillThere(until);
        log.end(End.DONE);
    }

    private void meetAtLatch() throws InterruptedException {
        long round = site.board.round();
        try {
            log.begin(Act.COUNT_DOWN, round, Monotonic.nanos());
            DistributedCountDownLatch latch = site.interlock.countDownLatch("campaign:latch:" + round, site.parties);
            latch.countDown();
            log.end(End.DONE);
            log.begin(Act.AWAIT_LATCH, round, Monotonic.nanos());
            if (latch.await(MEETING_SECONDS, TimeUnit.SECONDS)) {
                log.enter(Monotonic.nanos(), 0);
                log.end(End.DONE);
                site.board.endRound(round);
            } else {
                log.end(End.GAVE_UP);
            }
        } catch (IllegalStateException e) {
            // Redis has lost it, with the rest.
            log.end(End.LOST);
            site.board.endRound(round);
        }
    }

    private void meetAtBarrier() throws InterruptedException {
        log.begin(Act.BARRIER, 0, Monotonic.nanos());
        DistributedCyclicBarrier barrier = site.interlock.cyclicBarrier("campaign:barrier", site.parties);
        try {
            int index = barrier.await(MEETING_SECONDS, TimeUnit.SECONDS);
            log.enter(Monotonic.nanos(), 0);
            log.number(index);
            log.end(End.DONE);
        } catch (BrokenBarrierException | TimeoutException e) {
            log.stillThere(Monotonic.nanos());
            log.end(End.BROKEN);
            LockSupport.parkNanos(random.nextInt(50_000_000));
            if (barrier.isBroken()) {
                barrier.reset();
            }
        }
    }

    private Use holding(Act act) {
        return offers("holds") ? new Holder(site, act, log, random)::once : locking(Act.LOCK, held(locked()));
    }

    private Use leading() {
        return offers("election") ? new Contender(site, log, random)::once : locking(Act.LOCK, held(locked()));
    }

    private static boolean offers(String method) {
        return Arrays.stream(Interlock.class.getMethods())
                .anyMatch(offered -> offered.getName().equals(method));
    }

    private DistributedReentrantLock locked() {
        return site.interlock.lock(Act.LOCK.names().get(0));
    }

    private DistributedReentrantLock retained() {
        return site.interlock.lock(Act.RETAINED_LOCK.names().get(0), LockOptions.retain(RETENTION));
    }

    private DistributedReentrantLock market() {
        return site.interlock.lock("campaign:market");
    }

    private static Held held(DistributedReentrantLock lock) {
        return new Held(lock, lock::fencingToken, lock::assertHeld);
    }
}
