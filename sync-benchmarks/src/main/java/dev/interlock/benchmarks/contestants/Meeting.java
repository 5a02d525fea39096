package dev.interlock.benchmarks.contestants;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import java.time.Duration;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;

/**
 * Two JVMs, a thread each, that wait for each other over and over: by a latch for each time, or by one barrier. An
 * operation is that one of them has come and been let go, so that there are two in a cycle, as there are two messages
 * in an echo. Whoever waits in vain finds that the other one has stopped, and looks whether the round is over.
 */
final class Meeting {

    private static final int PLAYERS = 2;
    private static final long PATIENCE_MILLIS = 20;
    private static final Duration RETENTION = Duration.ofMinutes(1);

    private Meeting() {}

    static Contestant byLatches() {
        return meeting(Latches::new);
    }

    static Contestant byBarrier() {
        return meeting(Barrier::new);
    }

    // What a player had begun when a round ended, he ends in the next one.
    private static Contestant meeting(BiFunction<Interlock, String, Contestant.Work> player) {
        return redisUrl -> {
            Interlock session = Interlock.connect(redisUrl);
            var players = new ConcurrentHashMap<String, Contestant.Work>();
            return new Contestant.Opened() {
                @Override
                public Contestant.Work work(String name) {
                    return players.computeIfAbsent(name, absent -> player.apply(session, absent));
                }

                @Override
                public void close() {
                    session.close();
                }
            };
        };
    }

    /** A latch is used once: each cycle has its own. */
    private static final class Latches implements Contestant.Work {

        private final Interlock session;
        private final String name;
        private CountDownLatch latch;
        private long cycle;

        Latches(Interlock session, String name) {
            this.session = session;
            this.name = name;
            this.latch = begun();
        }

        private CountDownLatch begun() {
            CountDownLatch next = session.countDownLatch(name + ":" + cycle, PLAYERS, RETENTION);
            next.countDown();
            return next;
        }

        @Override
        public boolean once(Ledger ledger) {
            try {
                if (!latch.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                    return false;
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts players", e);
            }
            cycle++;
            latch = begun();
            return true;
        }
    }

    /** Whoever waits in vain breaks it, which both find sooner or later; then they take the next one. */
    private static final class Barrier implements Contestant.Work {

        private final Interlock session;
        private final String name;
        private DistributedCyclicBarrier barrier;
        private int broken;

        Barrier(Interlock session, String name) {
            this.session = session;
            this.name = name;
            this.barrier = next();
        }

        private DistributedCyclicBarrier next() {
            return session.cyclicBarrier(name + ":" + broken, PLAYERS);
        }

        @Override
        public boolean once(Ledger ledger) {
            try {
                barrier.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
                return true;
            } catch (TimeoutException | BrokenBarrierException e) {
                broken++;
                barrier = next();
                return false;
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts players", e);
            }
        }
    }
}
