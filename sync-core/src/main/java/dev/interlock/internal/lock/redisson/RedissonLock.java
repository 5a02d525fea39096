package dev.interlock.internal.lock.redisson;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.lock.AbstractRemoteLock;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.Insistence;
import dev.interlock.internal.session.RedisSession;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.RedissonFairLock;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RFencedLock;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a lock over a lock object of Redisson's, whose scripts and watchdog decide. Redisson tells nobody
 * that others wait, so a tenure ends at the first unlock after the hand-off slice, waited for or not.
 */
public class RedissonLock extends AbstractRemoteLock<RedisSession> {
    private static final Logger log = LoggerFactory.getLogger(RedissonLock.class);

    private static final long PARK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** After so long without word a waiting thread asks anew: Redisson may have missed that the lock is free. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final RLock lock;
    private final long watchdogMillis;
    private volatile @Nullable RedissonTenure turn;

    /** Redisson's first word on the end of the last turn. What is asked next might overtake it. */
    private volatile CompletableFuture<?> ending = CompletableFuture.completedFuture(null);

    /** Whether Redisson has refused what the leader wants, who goes on waiting. */
    private volatile boolean refused;

    /**
     * Creates the remote half over this lock object.
     *
     * @param watchdogMillis the lease that Redisson renews
     */
    public RedissonLock(RedisSession session, RLock lock, long watchdogMillis, LocalLock local) {
        super(session, nameOf(lock), local);
        this.lock = lock;
        this.watchdogMillis = watchdogMillis;
    }

    private static String nameOf(RLock lock) {
        return lock instanceof RedissonMultiLock
                ? lock.getClass().getSimpleName() + "@" + Integer.toHexString(System.identityHashCode(lock))
                : lock.getName();
    }

    @Override
    public boolean enterAtOnce(long start) {
        RedissonTenure current = turn;
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
        return enter(lock, false, interruptible, waitNanos, leaseMillis, start);
    }

    /**
     * Gets the session a tenure by this lock object and enters on it.
     *
     * @param reads whether to read beside others
     */
    final boolean enter(RLock by, boolean reads, boolean interruptible, long waitNanos, long leaseMillis, long start)
            throws InterruptedException {
        Wait wait = new Wait(interruptible, waitNanos);
        leader = Thread.currentThread();
        session.pin(this, this);
        try {
            relinquish();
            wait.until(ending);
            while (true) {
                session.ensureOpen();
                RedissonTenure next = new RedissonTenure(by, reads, leaseMillis);
                long sent = session.now();
                long left = wait.left(sent);
                long once = Math.min(left, refused ? untilNextRequest(by) : firstNanos(by));
                RFuture<?> request = next.ask(once);
                // RLock's futures have no result where they wait for ever.
                CompletableFuture<Boolean> asked =
                        request.toCompletableFuture().thenApply(result -> !Boolean.FALSE.equals(result));
                try {
                    wait.until(asked);
                    if (!asked.isCompletedExceptionally()) {
                        if (asked.join()) {
                            return own(next, start);
                        }
                        if (once == left) {
                            return false;
                        }
                        refused = true;
                        continue;
                    }
                } finally {
                    if (turn != next && !isRefusal(asked)) {
                        withdraw(next, request);
                    }
                }
                if (!wait.outlives(sent, asked)) {
                    return false;
                }
            }
        } finally {
            leader = null;
            refused = false;
            if (turn == null) {
                session.unpin(this, this);
            }
            if (wait.interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns how long the first request may wait for the lock. */
    long firstNanos(RLock by) {
        return untilNextRequest(by);
    }

    // A fair lock's request would lose its place if it were made anew, and so would what a multi lock has got so far.
    private static long untilNextRequest(RLock by) {
        return by instanceof RedissonFairLock || by instanceof RedissonMultiLock
                ? RedissonTenure.FOREVER_NANOS
                : LOOK_NANOS;
    }

    private static boolean isRefusal(CompletableFuture<Boolean> asked) {
        return asked.isDone() && !asked.isCompletedExceptionally() && !asked.join();
    }

    /** How long, and by what, the leader waits. */
    private final class Wait {
        private final boolean interruptible;
        private final boolean forever;
        private final long waitNanos;
        private final long patience;
        private final long begun = session.now();
        private boolean interrupted;

        Wait(boolean interruptible, long waitNanos) {
            this.interruptible = interruptible;
            this.forever = waitNanos >= RedissonTenure.FOREVER_NANOS;
            this.waitNanos = waitNanos;
            this.patience = waitNanos == 0 ? commandTimeoutNanos() : waitNanos;
        }

        long left(long now) {
            return forever ? RedissonTenure.FOREVER_NANOS : Math.max(0, waitNanos - (now - begun));
        }

        void until(CompletableFuture<?> answer) throws InterruptedException {
            answer.whenComplete((result, failure) -> wake());
            while (!answer.isDone()) {
                session.ensureOpen();
                if (Thread.interrupted()) {
                    if (interruptible) {
                        throw new InterruptedException();
                    }
                    interrupted = true;
                }
                if (!forever && session.now() - begun - patience - commandTimeoutNanos() >= 0) {
                    throw unavailable(null);
                }
                LockSupport.parkNanos(this, PARK_NANOS);
            }
        }

        /** Returns whether it is worth asking once more. Throws if nothing is known. */
        boolean outlives(long sent, CompletableFuture<?> failed) {
            Throwable failure =
                    Failures.cause(failed.handle((result, thrown) -> thrown).join());
            if (!Failures.isTransient(failure)) {
                throw new IllegalStateException("Redisson refuses to lock " + Keys.quoted(name), failure);
            }
            boolean over = !forever && session.now() - begun >= patience;
            // A short wait may be over before Redisson has subscribed, which it calls a failure.
            if (over && refused) {
                return false;
            }
            session.outage().failed(sent, failure);
            if (forever ? isOutageTooLong() : over) {
                throw unavailable(failure);
            }
            LockSupport.parkNanos(this, RETRY_NANOS);
            return true;
        }
    }

    private RedisUnavailableException unavailable(@Nullable Throwable cause) {
        return new RedisUnavailableException("Redis has not answered for lock " + Keys.quoted(name), cause);
    }

    private boolean own(RedissonTenure next, long start) {
        long now = session.now();
        session.outage().heard();
        next.startNanos = now;
        next.checkAtNanos = now + TimeUnit.MILLISECONDS.toNanos(settings.leaseMillis()) / 3;
        turn = next;
        if (session.isClosed()) {
            // It may have been closed before it could see this turn.
            relinquish();
            session.ensureOpen();
        }
        reportAcquired(now - start, false);
        return true;
    }

    // Whoever no longer wants what he asked for must give it back, whenever it comes. A fair lock's request isn't
    // cancelled: it would keep its place in Redisson's queue and block those behind it, while one that is served makes
    // way at
    // once.
    private void withdraw(RedissonTenure unwanted, RFuture<?> request) {
        request.whenComplete((acquired, failure) -> unwanted.end()
                .whenComplete(
                        (done, unknown) -> log.debug("A request for {} was withdrawn", Keys.quoted(name), unknown)));
        if (!(unwanted.lock() instanceof RedissonFairLock)) {
            request.cancel(true);
        }
    }

    @Override
    public @Nullable Departure leave() {
        RedissonTenure current = current();
        long now = session.now();
        if (current.loss.get() == null && current.isOver(now)) {
            lose(current, "its lease is over");
        }
        if (current.loss.get() == null && local.isWanted() && !isSliceOver(current, now)) {
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

    final boolean isSliceOver(RedissonTenure current, long now) {
        return now - current.startNanos >= settings.handoffSliceNanos();
    }

    /** The result says whether Redisson still knew this owner; it has none if Redis didn't answer. */
    private CompletableFuture<Boolean> release(RedissonTenure current, long now) {
        turn = null;
        reportReleased(now - current.startNanos);
        AtomicInteger attempts = new AtomicInteger();
        Supplier<CompletableFuture<Void>> end = () -> {
            CompletableFuture<Void> attempt = current.end();
            if (attempts.incrementAndGet() == 1) {
                ending = attempt;
            }
            return attempt;
        };
        CompletableFuture<Boolean> released = Insistence.on(
                        session, leaseMillis(current), end, RedissonLock::isWorthRepeating)
                .handle((done, failure) -> {
                    if (failure == null) {
                        return true;
                    }
                    Throwable cause = Failures.cause(failure);
                    if (cause instanceof IllegalMonitorStateException) {
                        // What is repeated may have been done the first time.
                        return attempts.get() > 1;
                    }
                    log.warn("Lock {} could not be released in Redis; its lease will end it", Keys.quoted(name), cause);
                    throw new IllegalStateException(cause);
                });
        session.expect(released, released);
        session.unpin(this, this);
        return released;
    }

    private long leaseMillis(RedissonTenure current) {
        return current.leaseMillis == RENEWED ? watchdogMillis : current.leaseMillis;
    }

    // An owner that Redisson doesn't know has nothing to release.
    private static boolean isWorthRepeating(Throwable failure) {
        Throwable cause = Failures.cause(failure);
        return !(cause instanceof IllegalMonitorStateException || cause instanceof RedissonShutdownException);
    }

    /** Returns what this session has, if it has anything. */
    final @Nullable RedissonTenure turn() {
        return turn;
    }

    /** Returns whether Redisson has refused what a thread wants, which goes on waiting. */
    final boolean hasRefused() {
        return refused;
    }

    private RedissonTenure current() {
        RedissonTenure current = turn;
        if (current == null) {
            throw new IllegalStateException("no tenure of " + Keys.quoted(name));
        }
        return current;
    }

    final LeaseLostException lose(RedissonTenure current, String reason) {
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
    protected boolean hasStake() {
        return turn != null && leader == null;
    }

    @Override
    protected void relinquish() {
        RedissonTenure current = turn;
        if (current != null) {
            release(current, session.now());
        }
    }

    @Override
    public long fencingToken() {
        assertValid();
        if (!(lock instanceof RFencedLock fenced)) {
            throw new UnsupportedOperationException("an adapted "
                    + lock.getClass().getSimpleName() + " has no fencing tokens; only an RFencedLock has");
        }
        Long token = session.await(fenced.getTokenAsync().toCompletableFuture());
        if (token == null) {
            throw new RedisUnavailableException(
                    "Redis has not answered for the token of lock " + Keys.quoted(name), null);
        }
        return token;
    }

    @Override
    public void assertValid() {
        RedissonTenure current = current();
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
            throw unavailable(null);
        }
        return locked;
    }

    @Override
    public @Nullable Renewal keep(long now) {
        RedissonTenure current = turn;
        if (current == null || current.loss.get() != null) {
            return null;
        }
        if (!local.isHeld()) {
            tidy();
        } else if (current.isOver(now)) {
            lose(current, "its lease is over");
        } else if (now - current.checkAtNanos >= 0 && !(lock instanceof RedissonMultiLock)) {
            current.checkAtNanos = now + TimeUnit.MILLISECONDS.toNanos(settings.leaseMillis()) / 3;
            RLock known = current.lock();
            known.isHeldByThreadAsync(current.owner).whenComplete((held, failure) -> {
                if (failure == null && !held && turn == current && current.lock() == known) {
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
    public void receive(Mail mail) {
        throw new IllegalStateException("no script of ours runs for " + Keys.quoted(name) + ", yet there is " + mail);
    }

    @Override
    public CompletableFuture<?> close() {
        RedissonTenure current = turn;
        wake();
        if (current == null) {
            return CompletableFuture.completedFuture(null);
        }
        lose(current, "its session was closed");
        return current.end().exceptionally(failure -> null);
    }

    @Override
    public String toString() {
        RedissonTenure current = turn;
        return current == null
                ? "no tenure"
                : "tenure " + current.owner + " over "
                        + current.lock().getClass().getSimpleName();
    }
}
