package dev.interlock.internal.adapters;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.lock.ReadWriteHalves;
import dev.interlock.internal.lock.RemoteReadWriteLock;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.RedisSession;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.redisson.RedissonObject;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a read-write lock over Redisson's. A session has one tenure at a time, by the write lock or by the
 * read lock, and its threads read on either.
 *
 * <p>Nobody tells a session that others wait. So its tenure admits readers that come within the hand-off slice, and
 * makes later ones wait for a moment: those inside leave, and then the session releases the lock before it asks anew.
 * If they don't leave, because one reads for long, the tenure admits readers again for as long a moment, and so on. A
 * tenure that the last reader leaves within the slice is kept for the rest of it, since others often follow.
 */
public final class RedissonReadWriteLock extends RedissonLock implements RemoteReadWriteLock {
    private static final Logger log = LoggerFactory.getLogger(RedissonReadWriteLock.class);
    private static final RareLog UNSHARED = new RareLog();

    /** The message of Redisson's write lock when it is released: all clients that listen on that channel ask again. */
    private static final String ALL = "1";

    /** For how long readers wait until those inside have left, and for how long they are then admitted. */
    private static final long DRAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ReadWriteHalves shared;
    private final RLock read;

    /**
     * Creates the remote half over this lock object.
     *
     * @param watchdogMillis the lease that Redisson renews
     */
    public RedissonReadWriteLock(
            RedisSession session, RReadWriteLock lock, long watchdogMillis, ReadWriteHalves local) {
        super(session, lock.writeLock(), watchdogMillis, local);
        this.read = lock.readLock();
        this.shared = local;
    }

    // ---- the exclusive side

    @Override
    protected boolean enterOn(RedissonTenure current) {
        return !current.isShared() && !isSliceOver(current, session.now()) && super.enterOn(current);
    }

    @Override
    public @Nullable Departure leave(long now) {
        RedissonTenure current = owned();
        if (shared.sharedHolds() == 0) {
            return super.leave(now);
        }
        // What its readers have lost excludes nobody.
        abandon();
        CompletableFuture<?> downgraded =
                current.loss() == null ? downgrade(current) : CompletableFuture.completedFuture(null);
        if (!current.isAbandoned()) {
            current.free();
        }
        return () -> {
            session.await(downgraded);
            LeaseLostException loss = current.loss();
            if (loss != null) {
                throw new LeaseLostException(loss);
            }
        };
    }

    private CompletableFuture<?> downgrade(RedissonTenure current) {
        return current.downgrade(read, session.now()).handle((done, failure) -> {
            if (failure == null) {
                callReaders();
            } else if (Failures.cause(failure) instanceof IllegalMonitorStateException) {
                current.lose("its owner in Redis had changed before it was released");
            } else {
                UNSHARED.say(
                        name,
                        often -> log.warn(
                                "Lock {} could not be downgraded; it stays locked for others until its readers have"
                                        + " left{}",
                                Names.quoted(name),
                                often,
                                failure));
            }
            return null;
        });
    }

    // Redisson itself does so only when its write lock leaves nothing behind.
    private void callReaders() {
        String channel = RedissonObject.prefixName("redisson_rwlock", name);
        session.channels().publish(channel, ALL).whenComplete((receivers, failure) -> {
            if (failure != null) {
                log.debug("Readers of {} were not called", Names.quoted(name), failure);
            }
        });
    }

    // ---- the shared side

    @Override
    public boolean mayEnterShared(long begunNanos) {
        RedissonTenure current = tenure();
        return current != null
                && isUsable(current)
                && (!isSliceOver(current, begunNanos) || !isDraining(current, session.now()));
    }

    private static boolean isUsable(RedissonTenure current) {
        return current.loss() == null;
    }

    private boolean isDraining(RedissonTenure current, long now) {
        long over = overNanos(current, now);
        return over >= 0 && over / DRAIN_NANOS % 2 == 0;
    }

    private long overNanos(RedissonTenure current, long now) {
        return now - current.startNanos() - settings().handoffSliceNanos();
    }

    // Of a lost one there is no other way out.
    @Override
    public boolean isBarred(long begunNanos) {
        RedissonTenure current = tenure();
        return current != null && !isUsable(current) && shared.isShared();
    }

    @Override
    public boolean mayAskSharing() {
        return tenure() == null;
    }

    // Nobody wakes those that wait here: for a thread that asks once, or for those inside to find that they have lost.
    @Override
    public void await(BooleanSupplier isSo, boolean interruptible, long waitNanos, long begunNanos)
            throws InterruptedException {
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        pause(this, PAUSE_NANOS);
    }

    // Where there is no tenure, a thread may get one that others can use, too.
    @Override
    public long drainNanos() {
        RedissonTenure current = tenure();
        return current == null
                ? LOOK_NANOS
                : DRAIN_NANOS - Math.max(0, overNanos(current, session.now())) % DRAIN_NANOS;
    }

    // Readers that aren't admitted come here when they have waited for those inside to leave. Those that don't queue
    // overtake them.
    @Override
    public boolean enterSharedAtOnce(long begunNanos) {
        RedissonTenure current = tenure();
        return current != null
                && local.loss() == null
                && !session.isClosing()
                && !isClosed(current)
                && isUsable(current);
    }

    @Override
    public boolean enterShared(boolean interruptible, long waitNanos, long begunNanos) throws InterruptedException {
        RedissonTenure current = tenure();
        if (current != null && !isSliceOver(current, begunNanos) && enterSharedAtOnce(begunNanos)) {
            return true;
        }
        return enter(read, true, interruptible, waitNanos, RENEWED);
    }

    @Override
    public @Nullable LeaseLostException leaveShared() {
        return owned().loss();
    }

    @Override
    public void leftShared() {
        if (shared.isShared()) {
            return;
        }
        RedissonTenure current = tenure();
        if (current != null && !current.retained && !isSliceOver(current, session.now())) {
            current.retained = true;
            endRetentionInTime(current);
        }
        cleanUp();
    }

    private void endRetentionInTime(RedissonTenure current) {
        long left = settings().handoffSliceNanos() - (session.now() - current.startNanos());
        current.retainUntil(session.schedule(() -> endRetention(current), TimeUnit.NANOSECONDS.toMillis(left) + 1));
    }

    // A downgrade has made the tenure begin anew.
    private void endRetention(RedissonTenure current) {
        if (tenure() != current) {
            return;
        }
        if (isSliceOver(current, session.now())) {
            cleanUp();
        } else {
            endRetentionInTime(current);
        }
    }

    @Override
    protected boolean hasInterest() {
        RedissonTenure current = tenure();
        boolean kept = current != null
                && current.retained
                && current.loss() == null
                && !session.isClosing()
                && !isSliceOver(current, session.now());
        return super.hasInterest() && !kept;
    }

    // Others that only ask look at the first answer.
    @Override
    long firstNanos(RLock by) {
        return 0;
    }

    @Override
    public boolean isRefused() {
        return hasRefused();
    }
}
