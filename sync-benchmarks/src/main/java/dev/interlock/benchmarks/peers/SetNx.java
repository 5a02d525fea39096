package dev.interlock.benchmarks.peers;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RBucket;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * The lock that many documents end with: {@code SET key owner NX PX}, tried again every millisecond, and a script that
 * deletes the key if it is still the owner's. Nothing renews it, nothing wakes who waits.
 */
public final class SetNx implements Mutex {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final String COMPARE_AND_DELETE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    /** As the documents have it: one for the JVM, in front of the thread's number. */
    private static final String JVM = UUID.randomUUID() + "-";

    private final RBucket<String> bucket;
    private final RScript script;
    private final List<Object> keys;

    /** The lock of a name. */
    public SetNx(RedissonClient redis, String name) {
        this.bucket = redis.getBucket(name, StringCodec.INSTANCE);
        this.script = redis.getScript(StringCodec.INSTANCE);
        this.keys = List.of(name);
    }

    @Override
    public void lock() {
        while (!bucket.setIfAbsent(owner(), LEASE)) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    @Override
    public void unlock() {
        Long deleted = script.eval(RScript.Mode.READ_WRITE, COMPARE_AND_DELETE, RScript.ReturnType.LONG, keys, owner());
        if (deleted == null || deleted == 0) {
            throw new IllegalMonitorStateException("the lease has run out");
        }
    }

    private static String owner() {
        return JVM + Thread.currentThread().getId();
    }
}
