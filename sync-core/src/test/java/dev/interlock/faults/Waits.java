package dev.interlock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.QuorumInterlock;
import dev.interlock.SemaphoreOptions;
import dev.interlock.faults.Wait.Kind;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisTimeoutException;

/** All ways in which threads of one session wait for another one, each on a name of its own. */
@SuppressWarnings("WaitNotInLoop") // that a wait ends is the subject
final class Waits {
    /**
     * A session, and what goes with it.
     *
     * @param client its client
     * @param quorum a session over all servers
     */
    record Side(Interlock session, RedissonClient client, QuorumInterlock quorum) {}

    /** What comes of it is asserted where that may fail; this is longer than it takes. */
    private static final Duration LONG = Duration.ofSeconds(30);

    /** How a thread waits at something. */
    private interface Way<T> {
        void at(T what) throws Exception;
    }

    private static final Way<Lock> LOCK = Lock::lock;
    private static final Way<Lock> INTERRUPTIBLY = Lock::lockInterruptibly;
    private static final Way<Lock> TIMED =
            lock -> assertThat(lock.tryLock(1, TimeUnit.HOURS)).isTrue();

    private final List<RedisServer> servers;
    private final Side mine;
    private final Side theirs;
    private final List<Wait> all = new ArrayList<>();

    /**
     * Makes them.
     *
     * @param mine whose threads wait
     * @param theirs who has what they wait for
     */
    Waits(List<RedisServer> servers, Side mine, Side theirs) {
        this.servers = servers;
        this.mine = mine;
        this.theirs = theirs;
        locks();
        conditions();
        semaphores();
        latches();
        barriers();
        adaptedLocks();
        adaptedOthers();
        quorum();
    }

    List<Wait> all() {
        return all;
    }

    private String nextName() {
        // None of them is part of another.
        return "name-" + (char) ('a' + all.size() / 26) + (char) ('a' + all.size() % 26);
    }

    private boolean exists(String key) {
        return exists(servers.get(0), key);
    }

    private static boolean exists(RedisServer server, String key) {
        return !String.valueOf(server.command("EXISTS", key)).equals("0");
    }

    private static String words(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    // ---- locks

    private void locks() {
        for (LockKind kind : LockKind.values()) {
            lock(kind, "lock()", LOCK);
        }
        for (LockKind kind : List.of(LockKind.PLAIN, LockKind.FAIR, LockKind.READ)) {
            lock(kind, "lockInterruptibly()", INTERRUPTIBLY);
            lock(kind, "tryLock(1 h)", TIMED);
        }
        lock(LockKind.PLAIN, "lock(1 min)", lock -> ((DistributedReentrantLock) lock).lock(1, TimeUnit.MINUTES));
        // Each of its threads has a place of its own, and only the first one is told.
        all.add(newLock(LockKind.FAIR, "lock()", LOCK, theirs.session::fairLock).ofThreads(3));
        all.add(newLock(LockKind.READ, "lock()", LOCK, name -> LockKind.WRITE.of(theirs.session, name))
                .ofThreads(3));
        // Sessions that wait for a plain RLock client listen on its channel.
        all.add(newLock(LockKind.PLAIN, "lock() behind an RLock", LOCK, theirs.client::getLock));
    }

    private void lock(LockKind kind, String call, Way<Lock> way) {
        all.add(newLock(kind, call, way, name -> kind.opponent().of(theirs.session, name)));
    }

    private Wait newLock(LockKind kind, String call, Way<Lock> way, Function<String, Lock> opponent) {
        String name = nextName();
        Lock held = opponent.apply(name);
        Lock wanted = kind.of(mine.session, name);
        List<String> keys = kind.keys(name, mine.session);
        return new Wait(
                held instanceof RLock ? Kind.LOCK_BEHIND_RLOCK : Kind.LOCK,
                words(kind) + " " + call,
                keys,
                new LockSteps(held, wanted, way, true, () -> exists(keys.get(1))));
    }

    /** @param isOwn whether it is up to scripts of ours that it works again */
    private record LockSteps(Lock held, Lock wanted, Way<Lock> way, boolean isOwn, BooleanSupplier isQueued)
            implements Wait.Steps {
        @Override
        public void hold() {
            held.lock();
        }

        @Override
        public void await() throws Exception {
            way.at(wanted);
            wanted.unlock();
        }

        @Override
        public boolean isWaiting() {
            return isQueued.getAsBoolean();
        }

        @Override
        public void give() {
            held.unlock();
        }

        @Override
        public void awaitAgain() throws Exception {
            if (isOwn) {
                assertThat(wanted.tryLock(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
                wanted.unlock();
            }
        }
    }

    // ---- conditions

    @SuppressWarnings("WaitNotInLoop") // what ends a wait is what tests are about
    private void conditions() {
        for (LockKind kind : List.of(LockKind.PLAIN, LockKind.FAIR, LockKind.WRITE)) {
            all.add(condition(kind, "await()", Condition::await));
            all.add(condition(kind, "await()", Condition::await).interrupted());
            all.add(condition(kind, "awaitUninterruptibly()", Condition::awaitUninterruptibly));
            all.add(condition(kind, "await(1 h)", condition -> condition.await(1, TimeUnit.HOURS)));
        }
        all.add(condition(LockKind.FAIR, "await()", Condition::await).ofThreads(3));
    }

    private Wait condition(LockKind kind, String call, Way<Condition> way) {
        String name = nextName();
        Lock here = kind.of(mine.session, name);
        Lock there = kind.of(theirs.session, name);
        Condition awaited = here.newCondition();
        Condition signalled = there.newCondition();
        List<String> keys = kind.keys(name, mine.session);
        return new Wait(Kind.CONDITION, words(kind) + " condition." + call, keys, new Wait.Steps() {
            @Override
            public void await() throws Exception {
                here.lock();
                here.lock();
                try {
                    way.at(awaited);
                } finally {
                    unlockTwice(here);
                }
            }

            @Override
            public boolean isWaiting() {
                return exists(keys.get(2)) && !exists(keys.get(0));
            }

            @Override
            public void prepareToGive() {
                there.lock();
            }

            @Override
            public void give() {
                signalled.signalAll();
                there.unlock();
            }

            @Override
            public void awaitAgain() throws Exception {
                assertThat(here.tryLock(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
                awaited.await(1, TimeUnit.MILLISECONDS);
                here.unlock();
            }
        });
    }

    // Both holds are there, if only of a lock that is lost.
    private static void unlockTwice(Lock lock) {
        lock.unlock();
        try {
            lock.unlock();
        } catch (LeaseLostException e) {
            // It couldn't be taken back.
        }
    }

    // ---- semaphores

    private void semaphores() {
        semaphore(Kind.SEMAPHORE, "semaphore", (session, name) -> session.semaphore(name, 1));
        semaphore(
                Kind.UNOWNED_SEMAPHORE,
                "unowned semaphore",
                (session, name) -> session.semaphore(name, 1, SemaphoreOptions.unowned()));
        semaphore(
                Kind.SEMAPHORE,
                "fair semaphore",
                (session, name) -> session.semaphore(name, 1, SemaphoreOptions.fair()));
    }

    private void semaphore(Kind kind, String what, BiFunction<Interlock, String, DistributedSemaphore> maker) {
        semaphore(kind, what + ".acquire()", maker, DistributedSemaphore::acquire);
        semaphore(kind, what + ".acquireUninterruptibly()", maker, DistributedSemaphore::acquireUninterruptibly);
        semaphore(
                kind,
                what + ".tryAcquire(1 h)",
                maker,
                semaphore -> assertThat(semaphore.tryAcquire(1, TimeUnit.HOURS)).isTrue());
    }

    private void semaphore(
            Kind kind,
            String what,
            BiFunction<Interlock, String, DistributedSemaphore> maker,
            Way<DistributedSemaphore> way) {
        String name = nextName();
        String key = "interlock:{" + name + "}:semaphore";
        DistributedSemaphore held = maker.apply(theirs.session, name);
        DistributedSemaphore wanted = maker.apply(mine.session, name);
        List<String> keys = List.of(key, key + "-queue", key + "-sessions", key + "-retired");
        all.add(new Wait(kind, what, keys, new Wait.Steps() {
            @Override
            public void hold() {
                held.acquireUninterruptibly();
            }

            @Override
            public void await() throws Exception {
                way.at(wanted);
                wanted.release();
            }

            @Override
            public boolean isWaiting() {
                return exists(keys.get(1));
            }

            @Override
            public void give() {
                held.release();
            }

            @Override
            public void awaitAgain() throws Exception {
                assertThat(wanted.tryAcquire(LONG)).isTrue();
                wanted.release();
            }
        }));
    }

    // ---- latches and barriers

    private void latches() {
        latch("await()", DistributedCountDownLatch::await);
        latch("await(1 h)", latch -> assertThat(latch.await(1, TimeUnit.HOURS)).isTrue());
    }

    private void latch(String call, Way<DistributedCountDownLatch> way) {
        String name = nextName();
        String key = "interlock:{" + name + "}:latch";
        DistributedCountDownLatch counted = theirs.session.countDownLatch(name, 1);
        DistributedCountDownLatch awaited = mine.session.countDownLatch(name, 1);
        List<String> keys = List.of(
                key,
                "interlock:totals:" + key,
                "interlock:waiters:" + key,
                "interlock:mark:" + mine.session.id() + ":" + key);
        all.add(new Wait(Kind.LATCH, "latch." + call, keys, new Wait.Steps() {
            @Override
            public void await() throws Exception {
                way.at(awaited);
            }

            @Override
            public boolean isWaiting() {
                return exists(keys.get(2));
            }

            @Override
            public void give() {
                counted.countDown();
            }
        }));
    }

    private void barriers() {
        barrier("await()", DistributedCyclicBarrier::await);
        barrier("await(1 h)", barrier -> barrier.await(1, TimeUnit.HOURS));
    }

    private void barrier(String call, Way<DistributedCyclicBarrier> way) {
        String name = nextName();
        String prefix = "interlock:{" + name + "}:";
        DistributedCyclicBarrier here = mine.session.cyclicBarrier(name, 2);
        DistributedCyclicBarrier there = theirs.session.cyclicBarrier(name, 2);
        List<String> keys = List.of(
                prefix + "barrier", prefix + "barrier-members", prefix + "mark:barrier", prefix + "mark:barrier-end");
        all.add(new Wait(Kind.BARRIER, "barrier." + call, keys, new Wait.Steps() {
            @Override
            public void await() throws Exception {
                way.at(here);
            }

            @Override
            public boolean isWaiting() {
                return there.getNumberWaiting() == 1;
            }

            @Override
            public void give() throws Exception {
                there.await(2, TimeUnit.SECONDS);
            }
        }));
    }

    // ---- Redisson's objects

    private void adaptedLocks() {
        adapted("lock()", RedissonClient::getLock, LOCK);
        adapted("lockInterruptibly()", RedissonClient::getLock, INTERRUPTIBLY);
        adapted("tryLock(1 h)", RedissonClient::getLock, TIMED);
        adapted("fair lock()", RedissonClient::getFairLock, LOCK);
        adapted("spin lock()", RedissonClient::getSpinLock, LOCK);
        adaptedReadWrite("readLock().lock()", true);
        adaptedReadWrite("writeLock().lock()", false);
    }

    private interface Obtained {
        RLock from(RedissonClient client, String name);
    }

    private void adapted(String call, Obtained lock, Way<Lock> way) {
        String name = nextName();
        Lock wanted = mine.session.adapt(lock.from(mine.client, name));
        adapted(call, name, theirs.client.getLock(name), wanted, lock.from(theirs.client, name), way);
    }

    private void adaptedReadWrite(String call, boolean reads) {
        String name = nextName();
        var wanted = mine.session.adapt(mine.client.getReadWriteLock(name));
        var held = theirs.client.getReadWriteLock(name);
        adapted(call, name, held.writeLock(), reads ? wanted.readLock() : wanted.writeLock(), held.writeLock(), LOCK);
    }

    private void adapted(String call, String name, RLock seen, Lock wanted, RLock held, Way<Lock> way) {
        List<String> keys = List.of(name, "redisson_lock_queue:{" + name + "}", "redisson_lock_timeout:{" + name + "}");
        // A spin lock doesn't listen; it looks again and again.
        BooleanSupplier isQueued = () -> call.startsWith("spin") ? seen.isLocked() : isListenedTo(name);
        all.add(new Wait(
                Kind.ADAPTED_LOCK, "adapted " + call, keys, new LockSteps(held, wanted, way, false, isQueued)));
    }

    private boolean isListenedTo(String name) {
        return String.valueOf(servers.get(0).command("PUBSUB", "CHANNELS", "*" + name + "*"))
                .contains(name);
    }

    private void adaptedOthers() {
        adaptedSemaphore("acquire()", DistributedSemaphore::acquire);
        adaptedSemaphore(
                "tryAcquire(1 h)",
                semaphore -> assertThat(semaphore.tryAcquire(1, TimeUnit.HOURS)).isTrue());
        adaptedLatch("await()", DistributedCountDownLatch::await);
        adaptedLatch(
                "await(1 h)",
                latch -> assertThat(latch.await(1, TimeUnit.HOURS)).isTrue());
    }

    /** Redisson doesn't repeat what Redis may have done already. To do it twice is no harm here. */
    private static void untilAnswered(Runnable call) {
        Awaitility.await("Redis answers")
                .atMost(WaitFixture.BOUND)
                .pollInSameThread()
                .ignoreExceptionsMatching(
                        e -> e instanceof RedisTimeoutException || e instanceof RedisConnectionException)
                .until(() -> {
                    call.run();
                    return true;
                });
    }

    private void adaptedSemaphore(String call, Way<DistributedSemaphore> way) {
        String name = nextName();
        RSemaphore pool = theirs.client.getSemaphore(name);
        DistributedSemaphore wanted = mine.session.adapt(mine.client.getSemaphore(name));
        all.add(new Wait(Kind.ADAPTED_SEMAPHORE, "adapted semaphore." + call, List.of(name), new Wait.Steps() {
            @Override
            public void hold() {
                pool.trySetPermits(0);
            }

            @Override
            public void await() throws Exception {
                way.at(wanted);
            }

            @Override
            public boolean isWaiting() {
                return isListenedTo(name);
            }

            @Override
            public void give() {
                untilAnswered(pool::release);
            }
        }));
    }

    private void adaptedLatch(String call, Way<DistributedCountDownLatch> way) {
        String name = nextName();
        RCountDownLatch counted = theirs.client.getCountDownLatch(name);
        DistributedCountDownLatch awaited = mine.session.adapt(mine.client.getCountDownLatch(name));
        all.add(new Wait(Kind.ADAPTED_LATCH, "adapted latch." + call, List.of(name), new Wait.Steps() {
            @Override
            public void hold() {
                counted.trySetCount(1);
            }

            @Override
            public void await() throws Exception {
                way.at(awaited);
            }

            @Override
            public boolean isWaiting() {
                return isListenedTo(name);
            }

            @Override
            public void give() {
                untilAnswered(counted::countDown);
            }
        }));
    }

    // ---- a quorum

    private void quorum() {
        quorum("lock()", LOCK);
        quorum("tryLock(1 h)", TIMED);
    }

    private void quorum(String call, Way<Lock> way) {
        String name = nextName();
        String prefix = "interlock:{" + name + "}:";
        Lock held = theirs.quorum.lock(name);
        Lock wanted = mine.quorum.lock(name);
        List<String> keys = List.of(
                prefix + "quorum",
                prefix + "quorum-waiters",
                prefix + "quorum-token",
                prefix + "quorum-mark:" + mine.quorum.id());
        BooleanSupplier isQueued = () -> servers.stream().allMatch(server -> exists(server, keys.get(1)));
        all.add(new Wait(Kind.QUORUM_LOCK, "quorum " + call, keys, new LockSteps(held, wanted, way, true, isQueued)));
    }
}
