package dev.interlock.internal.lock.redisson;

import static dev.interlock.internal.lock.RemoteLock.RENEWED;

import dev.interlock.LeaseLostException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;

/**
 * A session's tenure by a lock object of Redisson's, from when it is asked for. It has an owner id of its own, negative
 * and so disjoint from the thread ids that Redisson's own callers are known by. So a request whose reply was lost can't
 * count as a re-entry of the next one.
 */
final class RedissonTenure {
    /** Redisson computes with waits in a way that overflows; nobody sees the end of this one. */
    static final long FOREVER_NANOS = TimeUnit.DAYS.toNanos(365);

    /** Shared by all sessions, since several may use one client. */
    private static final AtomicLong OWNERS = new AtomicLong();

    final long owner = -OWNERS.incrementAndGet();
    final long leaseMillis;
    final AtomicReference<@Nullable LeaseLostException> loss = new AtomicReference<>();

    /** What Redisson knows the owner by. */
    private volatile RLock lock;

    /** All that it may know the owner by. */
    private volatile List<RLock> locks;

    /** Whether threads of this session can't write on it, or can't any more. */
    private volatile boolean shared;

    private volatile CompletableFuture<?> downgrade = CompletableFuture.completedFuture(null);
    volatile long startNanos;
    volatile long checkAtNanos;

    /** Whether it is kept for the rest of the hand-off slice although nobody is inside. */
    volatile boolean retained;

    RedissonTenure(RLock lock, boolean shared, long leaseMillis) {
        this.lock = lock;
        this.locks = List.of(lock);
        this.shared = shared;
        this.leaseMillis = leaseMillis;
    }

    RLock lock() {
        return lock;
    }

    boolean isShared() {
        return shared;
    }

    boolean isOver(long nowNanos) {
        return leaseMillis != RENEWED && nowNanos - startNanos >= TimeUnit.MILLISECONDS.toNanos(leaseMillis);
    }

    /**
     * The result is false if it was refused; it has no value, as that of {@link RLock} hasn't, if the wait is without
     * end.
     */
    RFuture<?> ask(long waitNanos) {
        long lease = leaseMillis == RENEWED ? -1 : leaseMillis;
        if (waitNanos >= FOREVER_NANOS) {
            return lock.lockAsync(lease, TimeUnit.MILLISECONDS, owner);
        }
        long waitMillis = TimeUnit.NANOSECONDS.toMillis(waitNanos + 999_999);
        return lock.tryLockAsync(waitMillis, lease, TimeUnit.MILLISECONDS, owner);
    }

    /**
     * Makes of an exclusive tenure a shared one: whoever has Redisson's write lock gets its read lock at once, before
     * others, and then releases the former. The tenure may be left with both, if Redis is silent in between.
     *
     * @return fails with an {@link IllegalMonitorStateException} if the tenure turns out to be lost
     */
    CompletableFuture<?> downgrade(RLock read, long nowNanos) {
        RLock write = lock;
        shared = true;
        startNanos = nowNanos;
        locks = List.of(read, write);
        CompletableFuture<?> done = read.tryLockAsync(owner)
                .toCompletableFuture()
                .thenCompose(taken -> {
                    if (!taken) {
                        throw new IllegalMonitorStateException("somebody else writes");
                    }
                    lock = read;
                    return write.unlockAsync(owner).toCompletableFuture();
                })
                .thenRun(() -> locks = List.of(read));
        downgrade = done;
        return done;
    }

    /**
     * Gives it back, whatever of it there is. Fails with an {@link IllegalMonitorStateException} if there isn't any.
     */
    CompletableFuture<Void> end() {
        // Otherwise the release might overtake what it is to undo.
        return downgrade
                .handle((done, failure) -> locks)
                .thenCompose(known -> CompletableFuture.allOf(known.stream()
                        .map(each -> each.unlockAsync(owner).toCompletableFuture())
                        .toArray(CompletableFuture<?>[]::new)));
    }
}
