package dev.interlock.internal.adapters;

import static dev.interlock.internal.lock.RemoteLock.RENEWED;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.Tenure;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Lease;
import dev.interlock.internal.session.LeaseRenewer.Scheduled;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;

/**
 * A session's tenure by a lock object of Redisson's, from the request on. It has an owner id of its own, negative and
 * so disjoint from the thread ids by which Redisson knows its own callers. So a request whose reply was lost can't
 * count as a re-entry of the next one. Redisson's watchdog renews its lease, unless that has a fixed length.
 */
final class RedissonTenure extends Tenure {
    /** Redisson computes with waits in a way that overflows; nobody sees the end of this one. */
    static final long FOREVER_NANOS = TimeUnit.DAYS.toNanos(365);

    /** Shared by all sessions, since several may use one client. */
    private static final AtomicLong OWNERS = new AtomicLong();

    private final RedissonLock remote;
    private final Settings settings;
    final long owner = -OWNERS.incrementAndGet();
    final long leaseMillis;

    /** Its validity is that of a fixed length; of what the watchdog renews nothing is known but a loss. */
    private final Lease lease;

    /** The lock object by which Redisson knows the owner. */
    private volatile RLock lock;

    /** All lock objects by which Redisson may know the owner. */
    private volatile List<RLock> locks;

    /** Whether threads of this session may only read. */
    private volatile boolean shared;

    private volatile CompletableFuture<?> downgrade = CompletableFuture.completedFuture(null);
    private volatile long startNanos;
    private volatile long checkedNanos;

    /** Whether it is kept for the rest of the hand-off slice although no thread uses it. */
    volatile boolean retained;

    /** What ends that, and whether the tenure has ended before. */
    @GuardedBy("this")
    private @Nullable Scheduled retention;

    @GuardedBy("this")
    private boolean isOver;

    RedissonTenure(RedissonLock remote, Settings settings, RLock lock, boolean shared, long leaseMillis) {
        this.remote = remote;
        this.settings = settings;
        long now = settings.suspensions().look();
        this.lease = new Lease(settings.suspensions(), now, now);
        this.startNanos = now;
        this.checkedNanos = now;
        this.lock = lock;
        this.locks = List.of(lock);
        this.shared = shared;
        this.leaseMillis = leaseMillis;
    }

    RLock lock() {
        return lock;
    }

    /** Something runs at the end of its retention, unless the tenure ends before. */
    synchronized void retainUntil(Scheduled end) {
        retention = end;
        if (isOver) {
            end.cancel();
        }
    }

    /** It is given up. */
    synchronized void over() {
        isOver = true;
        if (retention != null) {
            retention.cancel();
        }
    }

    boolean isShared() {
        return shared;
    }

    /** It begins, or begins anew. */
    private void begin(long nowNanos) {
        startNanos = nowNanos;
        lease.setValidUntil(nowNanos + TimeUnit.MILLISECONDS.toNanos(leaseMillis));
    }

    /** Redisson has granted the request. */
    void granted(long nowNanos) {
        begin(nowNanos);
        checkedNanos = nowNanos;
    }

    long startNanos() {
        return startNanos;
    }

    @Override
    public boolean isOver(long nowNanos) {
        boolean isTimeOver = leaseMillis != RENEWED && nowNanos - lease.validUntilNanos() >= 0;
        return isTimeOver || loss() != null;
    }

    @Override
    public boolean isUsable(long nowNanos) {
        return !isOver(nowNanos) && !isInDoubt();
    }

    /** Returns whether it is in doubt, as the machine was suspended. A multi lock never is: Redisson can't be asked. */
    boolean isInDoubt() {
        return lease.isInDoubt() && isAskable();
    }

    private boolean isAskable() {
        return !(lock instanceof RedissonMultiLock);
    }

    /** Returns whether it is time to {@link #check} it. */
    boolean isToCheck(long nowNanos) {
        long pause = lease.isInDoubt() ? settings.retryNanos() : settings.renewalNanos();
        return isAskable() && (settings.suspensions().putInDoubt(checkedNanos) || nowNanos - checkedNanos >= pause);
    }

    /** Asks Redisson whether it still knows this owner. The result has no value if that is unknown. */
    CompletableFuture<@Nullable Boolean> check(long nowNanos) {
        RLock asked = lock;
        if (!isAskable()) {
            return CompletableFuture.completedFuture(null);
        }
        checkedNanos = nowNanos;
        boolean isFixed = leaseMillis != RENEWED && lease.isInDoubt();
        CompletableFuture<Long> left =
                isFixed ? asked.remainTimeToLiveAsync().toCompletableFuture() : CompletableFuture.completedFuture(0L);
        return asked.isHeldByThreadAsync(owner).toCompletableFuture().thenCombine(left, (isHeld, leftMillis) -> {
            if (asked != lock) {
                // Downgraded in between.
                return null;
            }
            if (isHeld) {
                long until = nowNanos + TimeUnit.MILLISECONDS.toNanos(leftMillis);
                settings.suspensions().look();
                lease.extendTo(nowNanos, isFixed ? until : lease.validUntilNanos());
            }
            return isHeld;
        });
    }

    /** Marks it lost, and tells the lock the first time. Returns the loss. */
    LeaseLostException lose(String reason) {
        LeaseLostException news = new LeaseLostException(remote.name(), 0, reason);
        LeaseLostException known = lease.lose(news);
        if (known != null) {
            return known;
        }
        remote.lost(news);
        return news;
    }

    @Override
    public @Nullable LeaseLostException loss() {
        return lease.loss();
    }

    // The end of a lease that isn't renewed is known exactly.
    @Override
    protected long freeNanos() {
        return startNanos;
    }

    /**
     * Sends the request. The result is false if it was refused; it has no value, as that of {@link RLock} hasn't, if
     * the wait is without end.
     */
    RFuture<?> ask(long waitNanos) {
        long millis = leaseMillis == RENEWED ? -1 : leaseMillis;
        if (waitNanos >= FOREVER_NANOS) {
            return lock.lockAsync(millis, TimeUnit.MILLISECONDS, owner);
        }
        long waitMillis = TimeUnit.NANOSECONDS.toMillis(waitNanos + 999_999);
        return lock.tryLockAsync(waitMillis, millis, TimeUnit.MILLISECONDS, owner);
    }

    /**
     * Turns an exclusive tenure into a shared one: the owner of Redisson's write lock gets its read lock at once,
     * before others, and then releases the write lock. The tenure may be left with both, if Redis is silent in between.
     *
     * @return fails with an {@link IllegalMonitorStateException} if the tenure turns out to be lost
     */
    CompletableFuture<?> downgrade(RLock read, long nowNanos) {
        RLock write = lock;
        shared = true;
        begin(nowNanos);
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

    /** Returns whether a request of its downgrade had no answer, so that it may reach Redis behind the release. */
    boolean mayComeLate() {
        return downgrade.isCompletedExceptionally();
    }

    /**
     * Releases all that Redisson knows the owner by. Fails with an {@link IllegalMonitorStateException} if it doesn't
     * know the owner.
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
