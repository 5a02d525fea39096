package dev.interlock.benchmarks.contestants;

import dev.interlock.Interlock;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Two JVMs that pass the turn to each other: through two conditions of one lock, and, as the floor of that, through
 * messages that each of them answers as soon as they come. The second needs a command and a message per turn, which no
 * lock can save.
 *
 * <p>Where hand-offs are timed or counted, messages are answered by the thread that waits for them, as one waits for a
 * lock, after it has kept them for as long as it would have stayed in the section.
 *
 * <p>An operation is a turn. Whoever waits in vain for its turn finds that the other one has stopped, and looks whether
 * the round is over.
 */
final class PingPong {

    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private PingPong() {}

    static Contestant throughConditions() {
        return redisUrl -> {
            Interlock session = Interlock.connect(redisUrl);
            return new Contestant.Opened() {
                @Override
                public Contestant.Work work(String name) {
                    var lock = session.lock(name);
                    return new Turns(lock, lock.newCondition("even"), lock.newCondition("odd"));
                }

                @Override
                public void close() {
                    session.close();
                }
            };
        };
    }

    static Contestant throughMessages(Function<String, RedissonClient> connect) {
        return redisUrl -> {
            RedissonClient redis = connect.apply(redisUrl);
            var balls = new ConcurrentHashMap<String, Contestant.Work>();
            return new Contestant.Opened() {
                @Override
                public Contestant.Work work(String name) {
                    return balls.computeIfAbsent(name, absent -> new Ball(redis, name));
                }

                @Override
                public void close() {
                    redis.shutdown();
                }
            };
        };
    }

    /**
     * One player's turns: the even ones, or the odd ones. It has the lock from its first turn on, but for its waits.
     */
    private record Turns(ReentrantLock lock, Condition even, Condition odd) implements Contestant.Work {

        @Override
        public boolean once(Ledger ledger) {
            if (!lock.isHeldByCurrentThread()) {
                lock.lock();
            }
            if (!awaitTurn(ledger)) {
                return false;
            }
            ledger.book();
            turn(ledger.sum()).signal();
            return true;
        }

        private boolean awaitTurn(Ledger ledger) {
            long left = PATIENCE_NANOS;
            try {
                while (ledger.isLast() && left > 0) {
                    left = turn(ledger.sum() + 1).awaitNanos(left);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts players", e);
            }
            return !ledger.isLast();
        }

        private Condition turn(long number) {
            return number % 2 == 0 ? even : odd;
        }

        @Override
        public void end() {
            if (lock.isHeldByCurrentThread()) {
                lock.unlock();
            }
        }
    }

    /**
     * One player of a ball that is a message. Whoever doesn't play keeps it; the first one to come has it in the
     * beginning.
     */
    private static final class Ball implements Contestant.Work {

        private final RTopic other;
        private final Semaphore came = new Semaphore(0);
        private boolean isHere;
        private boolean isPlaying;
        private boolean isPassedByHand;

        Ball(RedissonClient redis, String name) {
            RAtomicLong players = redis.getAtomicLong(name + ":players");
            long self = players.getAndIncrement() % 2;
            players.expire(Duration.ofHours(1));
            isHere = self == 0;
            other = redis.getTopic(name + ":" + (1 - self), StringCodec.INSTANCE);
            redis.getTopic(name + ":" + self, StringCodec.INSTANCE)
                    .addListener(String.class, (channel, ball) -> receive());
        }

        private synchronized void receive() {
            if (isPlaying && !isPassedByHand) {
                other.publishAsync("ball");
            } else {
                isHere = true;
            }
            came.release();
        }

        private synchronized void serve(boolean byHand) {
            isPlaying = true;
            isPassedByHand = byHand;
            if (isHere) {
                came.drainPermits(); // it may have come too late for the round before
                isHere = other.publish("ball") == 0; // perhaps the other one isn't there yet
            }
        }

        @Override
        public boolean once(Ledger ledger) {
            serve(ledger.passes());
            try {
                if (!came.tryAcquire(PATIENCE_NANOS, TimeUnit.NANOSECONDS)) {
                    return false;
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts players", e);
            }
            if (ledger.passes()) {
                ledger.pass();
                serve(true);
            }
            return true;
        }

        @Override
        public synchronized void end() {
            isPlaying = false;
        }
    }
}
