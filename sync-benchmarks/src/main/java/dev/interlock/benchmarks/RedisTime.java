package dev.interlock.benchmarks;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Measures how much of Redis' processor time locks take: what its {@code commandstats} count for scripts and
 * subscriptions, while two sessions of one JVM, or two of Redisson's clients, do some of what locks are used for. It
 * prints a {@code REDIS} line for each: how many such commands a repetition takes, and how many microseconds, in the
 * round that took least and in the median.
 *
 * <p>All plays are played in turn, so that a slow moment of the machine meets all of them. The argument is how often,
 * 15 unless another number is given.
 */
public final class RedisTime {
    private static final int REPEATS = 200;
    private static final int THREADS = 20;
    private static final long PATIENCE_MILLIS = 5;

    /** Something that locks are used for, by two sessions or clients. */
    private enum Play {
        /** A lock that is free, and of a name that nobody has used. */
        PAIR {
            @Override
            void repeat(Function<String, Lock> one, Function<String, Lock> other, String prefix) {
                for (int i = 0; i < REPEATS; i++) {
                    Lock lock = one.apply(prefix + i);
                    lock.lock();
                    lock.unlock();
                }
            }
        },
        /** A lock that is passed on to the other one, who waits. */
        HAND_OVER {
            @Override
            void repeat(Function<String, Lock> one, Function<String, Lock> other, String prefix)
                    throws InterruptedException {
                Lock ours = one.apply(prefix);
                Lock theirs = other.apply(prefix);
                for (int i = 0; i < REPEATS; i++) {
                    Lock waiting = i % 2 == 0 ? theirs : ours;
                    Lock held = i % 2 == 0 ? ours : theirs;
                    held.lock();
                    Thread waiter = new Thread(() -> {
                        waiting.lock();
                        waiting.unlock();
                    });
                    waiter.start();
                    TimeUnit.MILLISECONDS.sleep(2);
                    held.unlock();
                    waiter.join();
                }
            }
        },
        /** Locks that another one holds throughout: some threads wait for one each, in vain. */
        GIVE_UP {
            @Override
            void repeat(Function<String, Lock> one, Function<String, Lock> other, String prefix)
                    throws InterruptedException {
                List<Lock> held = new ArrayList<>();
                List<Thread> waiters = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    Lock lock = one.apply(prefix + i);
                    lock.lock();
                    held.add(lock);
                    Lock wanted = other.apply(prefix + i);
                    waiters.add(new Thread(() -> giveUp(wanted)));
                }
                waiters.forEach(Thread::start);
                for (Thread waiter : waiters) {
                    waiter.join();
                }
                // Throws if one of them was lost.
                held.forEach(Lock::unlock);
            }

            private void giveUp(Lock wanted) {
                for (int i = 0; i < REPEATS / THREADS; i++) {
                    try {
                        if (wanted.tryLock(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                            throw new IllegalStateException("two have a lock");
                        }
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        },
        /** Two that signal each other in turn. */
        SIGNAL {
            @Override
            void repeat(Function<String, Lock> one, Function<String, Lock> other, String prefix)
                    throws InterruptedException {
                int[] turn = {0};
                Thread waiter = new Thread(() -> alternate(other.apply(prefix), turn, 1));
                waiter.start();
                alternate(one.apply(prefix), turn, 0);
                waiter.join();
            }

            private void alternate(Lock lock, int[] turn, int parity) {
                Condition moved = ((DistributedReentrantLock) lock).newCondition("moved");
                lock.lock();
                try {
                    while (turn[0] < REPEATS) {
                        if (turn[0] % 2 == parity) {
                            turn[0]++;
                            moved.signal();
                        } else {
                            moved.awaitUninterruptibly();
                        }
                    }
                    moved.signal();
                } finally {
                    lock.unlock();
                }
            }
        };

        abstract void repeat(Function<String, Lock> one, Function<String, Lock> other, String prefix)
                throws InterruptedException;
    }

    private final RedisServer server;
    private final Map<String, List<Cost>> costs = new LinkedHashMap<>();

    private RedisTime(RedisServer server) {
        this.server = server;
    }

    /** Measures and prints. */
    public static void main(String[] args) throws InterruptedException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 15;
        try (RedisServer server = RedisServer.launch()) {
            new RedisTime(server).measure(rounds);
        }
    }

    private void measure(int rounds) throws InterruptedException {
        Config config = new Config();
        config.useSingleServer().setAddress(server.url());
        RedissonClient client = Redisson.create(config);
        RedissonClient another = Redisson.create(config);
        try (Interlock one = Interlock.connect(server.url());
                Interlock other = Interlock.connect(server.url())) {
            // The first one is to warm up.
            for (int round = 0; round <= rounds; round++) {
                for (Play play : Play.values()) {
                    String name = play + ":" + round + ":";
                    measure(round > 0, "Interlock " + play, () -> play.repeat(one::lock, other::lock, name));
                    if (play != Play.SIGNAL) {
                        measure(
                                round > 0,
                                "RLock " + play,
                                () -> play.repeat(client::getLock, another::getLock, "r:" + name));
                    }
                }
            }
        } finally {
            client.shutdown();
            another.shutdown();
        }
        costs.forEach(RedisTime::print);
    }

    @FunctionalInterface
    private interface Round {
        void play() throws InterruptedException;
    }

    private void measure(boolean counts, String title, Round round) throws InterruptedException {
        Cost.reset(server);
        round.play();
        Cost cost = Cost.sinceReset(server);
        if (counts) {
            costs.computeIfAbsent(title, first -> new ArrayList<>()).add(cost);
        }
    }

    private static void print(String title, List<Cost> costs) {
        costs.sort(Comparator.comparingLong(Cost::micros));
        Cost median = costs.get(costs.size() / 2);
        System.out.printf(
                Locale.ROOT,
                "REDIS %-22s commands=%.2f least=%.1f µs median=%.1f µs%n",
                title,
                (double) median.calls() / REPEATS,
                (double) costs.get(0).micros() / REPEATS,
                (double) median.micros() / REPEATS);
    }
}
