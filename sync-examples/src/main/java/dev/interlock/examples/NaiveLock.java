package dev.interlock.examples;

import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RBucket;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** Locks as many documents describe them: a key in Redis, and whoever doesn't get it tries again. Not for use. */
abstract class NaiveLock implements Lock {

    static final String KEY = "flash-sale:naive-lock";
    static final Duration LEASE = Duration.ofSeconds(1);

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    @Override
    public void lock() {
        while (!tryLock()) {
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    @Override
    public void lockInterruptibly() {
        throw new UnsupportedOperationException("not needed here");
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) {
        throw new UnsupportedOperationException("not needed here");
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("not needed here");
    }

    static String me() {
        return Thread.currentThread().getName();
    }

    /** Lets everybody in. */
    static final class None extends NaiveLock {

        @Override
        public boolean tryLock() {
            return true;
        }

        @Override
        public void unlock() {
            // nothing to open
        }
    }

    /** Two commands, and a JVM can die between them. */
    static final class SetnxThenExpire extends NaiveLock {

        private final RBucket<String> key;
        private final Runnable betweenTheSteps;

        SetnxThenExpire(RedissonClient redis, Runnable betweenTheSteps) {
            this.key = redis.getBucket(KEY, StringCodec.INSTANCE);
            this.betweenTheSteps = betweenTheSteps;
        }

        @Override
        public boolean tryLock() {
            if (!key.setIfAbsent(me())) {
                return false;
            }
            betweenTheSteps.run();
            key.expire(LEASE);
            return true;
        }

        @Override
        public void unlock() {
            key.delete();
        }
    }

    /**
     * One command, but the key is deleted without a look at whose it is. Reports what happens as {@code EVENT} lines.
     */
    static final class SetNxPx extends NaiveLock {

        private final RBucket<String> key;

        SetNxPx(RedissonClient redis) {
            this.key = redis.getBucket(KEY, StringCodec.INSTANCE);
        }

        @Override
        public boolean tryLock() {
            if (!key.setIfAbsent(me(), LEASE)) {
                return false;
            }
            report(Monotonic.nanos(), "enters", me());
            return true;
        }

        @Override
        public void unlock() {
            long beforeNanos = Monotonic.nanos();
            report(beforeNanos, "leaves", me());
            String deleted = key.getAndDelete(); // a DEL that tells what it has deleted
            if (deleted != null && !deleted.equals(me())) {
                report(beforeNanos, "deletes", deleted);
            }
        }

        private static void report(long nanos, String verb, String whose) {
            ChildConsole.say("EVENT " + nanos + " " + me() + " " + verb + " " + whose);
        }
    }
}
