package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Mailbox.Message;
import dev.interlock.internal.ScriptRunner;
import dev.interlock.internal.Session;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.redisson.RedissonFairLock;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a lock over a lock object of Redisson's, whose scripts and watchdog decide. Redisson tells nobody
 * that others wait, so a tenure ends at the first unlock after the hand-off slice, waited for or not.
 *
 * <p>Every request has an owner id of its own, negative and so disjoint from the thread ids that Redisson's own callers are
 * known by. So a request whose reply was lost can't count as a re-entry of the next one.
 */
public final class RedissonLock extends AbstractRemoteLock {
    private static final Logger log = LoggerFactory.getLogger(RedissonLock.class);

    /** Shared by all sessions, since several may use one client. */
    private static final AtomicLong OWNERS = new AtomicLong();

    /** Redisson computes with waits in a way that overflows; nobody sees the end of this one. */
    private static final long FOREVER_NANOS = TimeUnit.DAYS.toNanos(365);

    private static final long PARK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** After so long without word a waiting thread looks whether Redisson has missed that the lock is free. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final RLock lock;
    private volatile @Nullable Turn turn;

    /** Creates the remote half over this lock object. */
    public RedissonLock(Session session, RLock lock, LocalHalf local) {
        super(session, nameOf(lock), local);
        this.lock = lock;
    }

    private static String nameOf(RLock lock) {
        return lock instanceof RedissonMultiLock
                ? lock.getClass().getSimpleName() + "@" + Integer.toHexString(System.identityHashCode(lock))
                : lock.getName();
    }

    /** This session's tenure, under one owner id. */
    private static final class Turn {
        final long owner = -OWNERS.incrementAndGet();
        final long leaseMillis;
        final AtomicReference<@Nullable LeaseLostException> loss = new AtomicReference<>();
        long startNanos;
        volatile long checkAtNanos;

        Turn(long leaseMillis) {
            this.leaseMillis = leaseMillis;
        }

        boolean isOver(long nowNanos) {
            return leaseMillis != RENEWED && nowNanos - startNanos >= TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        }
    }

    @Override
    public boolean enterAtOnce(long start) {
        Turn current = turn;
        if (current == null || current.leaseMillis != RENEWED || current.loss.get() != null) {
            return false;
        }
        if (listening) {
            reportAcquired(session.now() - start, true);
        }
        return true;
    }

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis, long start)
            throws InterruptedException {
        boolean forever = waitNanos >= FOREVER_NANOS;
        long begun = session.now();
        long patience = waitNanos == 0 ? commandTimeoutNanos() : waitNanos;
        boolean interrupted = false;
        frontman = Thread.currentThread();
        session.pin(this, this);
        try {
            relinquish();
            while (true) {
                Turn next = new Turn(leaseMillis);
                long sent = session.now();
                RFuture<?> request = ask(next, forever, Math.max(0, waitNanos - (sent - begun)));
                // RLock's futures have no result where they wait for ever.
                CompletableFuture<Boolean> asked =
                        request.toCompletableFuture().thenApply(result -> !Boolean.FALSE.equals(result));
                asked.whenComplete((acquired, failure) -> wake());
                AtomicBoolean missed = new AtomicBoolean();
                long lookAtNanos = sent + LOOK_NANOS;
                try {
                    while (!asked.isDone() && !missed.get()) {
                        session.ensureOpen();
                        if (Thread.interrupted()) {
                            if (interruptible) {
                                throw new InterruptedException();
                            }
                            interrupted = true;
                        }
                        long overdue = session.now() - begun - patience - commandTimeoutNanos();
                        if (!forever && overdue >= 0) {
                            throw new RedisUnavailableException("Redis has not answered for lock '" + name + "'", null);
                        }
                        if (session.now() - lookAtNanos >= 0) {
                            lookAtNanos = session.now() + LOOK_NANOS;
                            look(missed);
                        }
                        LockSupport.parkNanos(this, PARK_NANOS);
                    }
                    if (!asked.isDone()) {
                        continue;
                    }
                    if (!asked.isCompletedExceptionally()) {
                        return asked.join() && own(next, start);
                    }
                } finally {
                    if (turn != next) {
                        withdraw(next, request);
                    }
                }
                Throwable failure = ScriptRunner.cause(
                        asked.handle((acquired, thrown) -> thrown).join());
                if (!ScriptRunner.isTransient(failure)) {
                    throw new IllegalStateException("Redisson refuses to lock '" + name + "'", failure);
                }
                session.outage().failed(sent, failure);
                if (forever ? isOutageTooLong() : session.now() - begun >= patience) {
                    throw new RedisUnavailableException("Redis has not answered for lock '" + name + "'", failure);
                }
                LockSupport.parkNanos(this, RETRY_NANOS);
            }
        } finally {
            frontman = null;
            if (turn == null) {
                session.unpin(this, this);
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // A fair lock's request would lose its place if it were made anew, and a multi lock can't say whether it is free.
    private void look(AtomicBoolean missed) {
        if (!(lock instanceof RedissonFairLock) && !(lock instanceof RedissonMultiLock)) {
            lock.isLockedAsync().whenComplete((locked, failure) -> {
                if (failure == null && !locked) {
                    missed.set(true);
                    wake();
                }
            });
        }
    }

    private RFuture<?> ask(Turn next, boolean forever, long waitNanos) {
        long lease = next.leaseMillis == RENEWED ? -1 : next.leaseMillis;
        if (forever) {
            return lock.lockAsync(lease, TimeUnit.MILLISECONDS, next.owner);
        }
        long waitMillis = TimeUnit.NANOSECONDS.toMillis(waitNanos + 999_999);
        return lock.tryLockAsync(waitMillis, lease, TimeUnit.MILLISECONDS, next.owner);
    }

    private boolean own(Turn next, long start) {
        long now = session.now();
        session.outage().heard();
        next.startNanos = now;
        next.checkAtNanos = now + TimeUnit.MILLISECONDS.toNanos(settings.leaseMillis()) / 3;
        turn = next;
        reportAcquired(now - start, false);
        return true;
    }

    // Whoever no longer wants what he asked for must give it back, whenever it comes. A fair lock's request isn't
    // cancelled:
    // it would keep its place in Redisson's queue and block those behind it, while one that is served makes way at
    // once.
    private void withdraw(Turn unwanted, RFuture<?> request) {
        request.whenComplete((acquired, failure) -> lock.unlockAsync(unwanted.owner)
                .whenComplete((done, refused) -> log.debug("A request for '{}' was withdrawn", name, refused)));
        if (!(lock instanceof RedissonFairLock)) {
            request.cancel(true);
        }
    }

    @Override
    public @Nullable Departure leave() {
        Turn current = current();
        long now = session.now();
        if (current.loss.get() == null && current.isOver(now)) {
            lose(current, "its lease is over");
        }
        if (current.loss.get() == null && local.isWanted() && now - current.startNanos < settings.handoffSliceNanos()) {
            reportHandedOff();
            return null;
        }
        CompletableFuture<Boolean> released = release(current, now);
        return () -> {
            LeaseLostException known = current.loss.get();
            if (known == null && Boolean.FALSE.equals(session.await(released))) {
                known = lose(current, "its owner in Redis had changed before it was released");
            }
            if (known != null) {
                throw new LeaseLostException(known);
            }
        };
    }

    /** The result says whether Redisson still knew this owner; it has none if Redis didn't answer. */
    private CompletableFuture<Boolean> release(Turn current, long now) {
        turn = null;
        session.unpin(this, this);
        reportReleased(now - current.startNanos);
        return lock.unlockAsync(current.owner).toCompletableFuture().handle((done, failure) -> {
            if (failure == null) {
                return true;
            }
            Throwable cause = ScriptRunner.cause(failure);
            if (cause instanceof IllegalMonitorStateException) {
                return false;
            }
            log.warn("Lock '{}' could not be released in Redis; its lease will end it", name, cause);
            throw new IllegalStateException(cause);
        });
    }

    private Turn current() {
        Turn current = turn;
        if (current == null) {
            throw new IllegalStateException("no tenure of '" + name + "'");
        }
        return current;
    }

    private LeaseLostException lose(Turn current, String reason) {
        LeaseLostException news = new LeaseLostException(name, 0, reason);
        LeaseLostException known = current.loss.compareAndExchange(null, news);
        if (known != null) {
            return known;
        }
        if (local.isHeld()) {
            reportLoss(news);
        }
        return news;
    }

    @Override
    boolean hasStake() {
        return turn != null && frontman == null;
    }

    @Override
    void relinquish() {
        Turn current = turn;
        if (current != null) {
            release(current, session.now());
        }
    }

    @Override
    public long fencingToken() {
        assertValid();
        if (!(lock instanceof RFencedLock fenced)) {
            throw new UnsupportedOperationException(
                    "an adapted " + lock.getClass().getSimpleName() + " has no fencing tokens; adapt an RFencedLock");
        }
        Long token = session.await(fenced.getTokenAsync().toCompletableFuture());
        if (token == null) {
            throw new RedisUnavailableException("Redis has not answered for the token of lock '" + name + "'", null);
        }
        return token;
    }

    @Override
    public void assertValid() {
        Turn current = current();
        LeaseLostException known =
                current.isOver(session.now()) ? lose(current, "its lease is over") : current.loss.get();
        if (known != null) {
            throw new LeaseLostException(known);
        }
    }

    @Override
    public Conditions conditions() {
        throw new UnsupportedOperationException(
                "Redisson's protocol knows no conditions; a condition of the superclass would only be seen by the "
                        + "threads of this JVM");
    }

    @Override
    public boolean isLocked() {
        session.ensureOpen();
        Boolean locked = session.await(lock.isLockedAsync().toCompletableFuture());
        if (locked == null) {
            throw new RedisUnavailableException("Redis has not answered for lock '" + name + "'", null);
        }
        return locked;
    }

    @Override
    public @Nullable Renewal keep(long now) {
        Turn current = turn;
        if (current == null || current.loss.get() != null) {
            return null;
        }
        if (!local.isHeld()) {
            tidy();
        } else if (current.isOver(now)) {
            lose(current, "its lease is over");
        } else if (now - current.checkAtNanos >= 0 && !(lock instanceof RedissonMultiLock)) {
            current.checkAtNanos = now + TimeUnit.MILLISECONDS.toNanos(settings.leaseMillis()) / 3;
            lock.isHeldByThreadAsync(current.owner).whenComplete((held, failure) -> {
                if (failure == null && !held && turn == current) {
                    lose(current, "Redisson doesn't know this owner any more");
                }
            });
        }
        return null;
    }

    @Override
    public void pulse() {
        // Redisson waits by its own messages, with the remaining TTL as its bound.
    }

    @Override
    public void receive(Message message) {
        throw new IllegalStateException("no script of ours runs for '" + name + "', yet there is " + message);
    }

    @Override
    public CompletableFuture<?> close() {
        Turn current = turn;
        wake();
        if (current == null) {
            return CompletableFuture.completedFuture(null);
        }
        lose(current, "its session was closed");
        return lock.unlockAsync(current.owner).toCompletableFuture().exceptionally(failure -> null);
    }

    @Override
    public String toString() {
        Turn current = turn;
        return current == null
                ? "no tenure"
                : "tenure " + current.owner + " over " + lock.getClass().getSimpleName();
    }
}
