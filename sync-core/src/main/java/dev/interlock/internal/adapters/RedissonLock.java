package dev.interlock.internal.adapters;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.lock.AbstractRemoteLock;
import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.RemoteConditions;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.ReliableCommand;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.internal.session.Resource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.RedissonFairLock;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonObject;
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
public class RedissonLock extends AbstractRemoteLock<RedisSession, RedissonTenure> {
    private static final Logger log = LoggerFactory.getLogger(RedissonLock.class);
    private static final RareLog UNCHECKED = new RareLog();

    /** How long a request waits for the lock before it is made anew: Redisson may have missed that the lock is free. */
    private static final long REQUEST_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** A request that was written before an outage arrives at the end of that, and maybe last. */
    private static final long GIVEN_BACK_AGAIN_MILLIS = 2_000;

    /** More often Redisson hardly repeats a request, unless it is set to. */
    private static final int MOST_REPEATS = 16;

    /** What has come of a request. */
    private enum Answer {
        GRANTED,
        REFUSED,
        ASK_AGAIN
    }

    private final RLock lock;
    private final long watchdogMillis;

    /** Held by a thread that gives up a tenure which it has not taken. Comes after the local half. */
    private final ReentrantLock mutex = new ReentrantLock();

    /** Sends the releases. */
    private final Resource<?> commands;

    private volatile @Nullable RedissonTenure tenure;

    /** The first attempt to release the last tenure. The next request waits for it, lest it overtakes it. */
    private volatile CompletableFuture<?> ending = CompletableFuture.completedFuture(null);

    /** Whether Redisson has refused the leader's request, and the leader goes on waiting. */
    private volatile boolean refused;

    /**
     * Creates the remote half over this lock object.
     *
     * @param watchdogMillis the lease that Redisson renews
     */
    public RedissonLock(RedisSession session, RLock lock, long watchdogMillis, Halves<?> local) {
        super(session, nameOf(lock), local);
        this.commands = Resource.ofCommands(session, name);
        this.lock = lock;
        this.watchdogMillis = watchdogMillis;
    }

    private static String nameOf(RLock lock) {
        return lock instanceof RedissonMultiLock
                ? lock.getClass().getSimpleName() + "@" + Integer.toHexString(System.identityHashCode(lock))
                : lock.getName();
    }

    @Override
    protected boolean enterOn(RedissonTenure current) {
        // Of a lease that is renewed no end is known, so the time is for listeners only.
        return current.leaseMillis == RENEWED
                && !current.isInDoubt()
                && current.take(isListenedTo() ? entering(session.now()) : 0);
    }

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis) throws InterruptedException {
        return enter(lock, false, interruptible, waitNanos, leaseMillis);
    }

    /**
     * Gets the session a tenure by this lock object and enters on it.
     *
     * @param reads whether to read beside others
     */
    final boolean enter(RLock by, boolean reads, boolean interruptible, long waitNanos, long leaseMillis)
            throws InterruptedException {
        long most = waitNanos >= RedissonTenure.FOREVER_NANOS ? RemoteWait.FOREVER : waitNanos;
        RemoteWait wait = newWait(interruptible, most, waited -> unavailable(null));
        leader = wait;
        try (wait) {
            begin();
            await(ending, wait);
            while (true) {
                wait.ensureOpen();
                RedissonTenure next = new RedissonTenure(this, settings(), by, reads, leaseMillis);
                Answer answer = request(next, wait);
                if (answer != Answer.ASK_AGAIN) {
                    return answer == Answer.GRANTED && own(next, reads);
                }
            }
        } finally {
            leader = null;
            refused = false;
            if (tenure == null) {
                session.unpin(this, this);
            }
        }
    }

    // The leader is known by now, so no other thread gives anything up after that.
    private void begin() {
        withMutex(() -> {
                    session.pin(this, this);
                    RedissonTenure current = tenure;
                    return current == null ? NOTHING : giveUp(current);
                })
                .run();
    }

    /** Makes one request, and waits for its answer. */
    private Answer request(RedissonTenure next, RemoteWait wait) throws InterruptedException {
        long sent = session.now();
        long left = leftNanos(wait);
        long once = Math.min(left, refused ? untilNextRequest(next.lock()) : firstNanos(next.lock()));
        RFuture<?> request = next.ask(once);
        // RLock's futures have no result where they wait without end.
        CompletableFuture<Boolean> asked =
                request.toCompletableFuture().thenApply(result -> !Boolean.FALSE.equals(result));
        boolean isAnswered = false;
        try {
            await(asked, wait);
            isAnswered = !asked.isCompletedExceptionally();
        } finally {
            if (!isAnswered) {
                withdraw(next, request);
            }
        }
        if (!isAnswered) {
            return outlives(sent, asked, wait) ? Answer.ASK_AGAIN : Answer.REFUSED;
        }
        if (asked.join()) {
            return Answer.GRANTED;
        }
        if (once == left) {
            return Answer.REFUSED;
        }
        refused = true;
        return Answer.ASK_AGAIN;
    }

    private static long leftNanos(RemoteWait wait) {
        if (!wait.isTimed()) {
            return RedissonTenure.FOREVER_NANOS;
        }
        return wait.isOnce() ? 0 : Math.max(0, wait.callersLeftNanos());
    }

    /** Waits for an answer of Redisson's, which has a command time-out beyond the wait for the lock. */
    private void await(CompletableFuture<?> answer, RemoteWait wait) throws InterruptedException {
        long nanos = wait.isTimed() ? wait.callersLeftNanos() + commandTimeoutNanos() : RemoteWait.FOREVER;
        answer.whenComplete((done, failure) -> wait.wake());
        if (!wait.until(() -> answer.isDone() || isShutDown(), this, nanos)) {
            throw unavailable(null);
        }
        if (!answer.isDone()) {
            throw refusal(new RedissonShutdownException("its client is shut down"));
        }
    }

    // Redisson forgets what waits when a client is shut down. Of a multi lock it doesn't say whose it is.
    private boolean isShutDown() {
        return lock instanceof RedissonObject object
                ? object.getServiceManager().isShuttingDown()
                : session.runner().isShutDown();
    }

    private IllegalStateException refusal(Throwable cause) {
        return new IllegalStateException("Redisson refuses to lock " + Names.quoted(name), cause);
    }

    /** Returns whether to make a request anew that has failed. Throws if nothing is known. */
    private boolean outlives(long sent, CompletableFuture<?> failed, RemoteWait wait) throws InterruptedException {
        Throwable failure = Failures.of(failed);
        if (!Failures.isTransient(failure)) {
            throw refusal(failure);
        }
        boolean over = wait.isTimed() && wait.callersLeftNanos() <= 0;
        if (Failures.isLateSubscription(failure)) {
            session.outage().heard();
            refused = true;
        } else if (!over || !refused) {
            session.outage().failed(sent, failure);
        }
        if (over && refused) {
            return false;
        }
        if (over || (!wait.isTimed() && isOutageTooLong())) {
            throw unavailable(failure);
        }
        wait.until(() -> false, this, RETRY_NANOS);
        return true;
    }

    /** Returns how long the first request may wait for the lock. */
    long firstNanos(RLock by) {
        return untilNextRequest(by);
    }

    // A fair lock's request would lose its place if it were made anew, and so would what a multi lock has got so far.
    private static long untilNextRequest(RLock by) {
        return by instanceof RedissonFairLock || by instanceof RedissonMultiLock
                ? RedissonTenure.FOREVER_NANOS
                : REQUEST_NANOS;
    }

    private RedisUnavailableException unavailable(@Nullable Throwable cause) {
        return new RedisUnavailableException("Redis has not answered for lock " + Names.quoted(name), cause);
    }

    private boolean own(RedissonTenure next, boolean reads) {
        session.outage().heard();
        long now = entering(session.now());
        next.granted(now);
        // Redisson has granted it: whether that is lost or in doubt by now, the thread finds out as of any hold.
        if (!reads) {
            next.takeAnyway();
        }
        tenure = next;
        if (session.isClosed()) {
            // It may have been closed before it could see this tenure.
            giveUp(next).run();
            session.ensureOpen();
        }
        return true;
    }

    // What an unwanted request gets is released, whenever that is. One without an answer may reach Redis behind its
    // release, so that is sent once more. A fair lock's request isn't cancelled: it would keep its place in Redisson's
    // queue and block those behind it, while one that is served makes way at once.
    private void withdraw(RedissonTenure unwanted, RFuture<?> request) {
        request.whenComplete((acquired, failure) -> giveBack(unwanted).whenComplete((done, unknown) -> {
            log.debug("A request for {} was withdrawn", Names.quoted(name), unknown);
            if (failure != null) {
                session.schedule(() -> giveBack(unwanted), GIVEN_BACK_AGAIN_MILLIS);
            }
        }));
        if (!(unwanted.lock() instanceof RedissonFairLock)) {
            request.cancel(true);
        }
    }

    /**
     * Releases as often as Redisson knows the owner, but not for ever: a request counts each time that it arrives, and
     * Redisson repeats one that has no answer. Fails with an {@link IllegalMonitorStateException} in the end.
     */
    private CompletableFuture<Boolean> giveBack(RedissonTenure unwanted) {
        return giveBack(unwanted, MOST_REPEATS);
    }

    private CompletableFuture<Boolean> giveBack(RedissonTenure unwanted, int times) {
        return ReliableCommand.send(
                        session,
                        commands,
                        leaseMillis(unwanted),
                        RedissonLock::isFinal,
                        isFirst -> unwanted.end().thenApply(done -> true))
                .confirmed()
                .thenCompose(
                        done -> times > 1 ? giveBack(unwanted, times - 1) : CompletableFuture.completedFuture(done));
    }

    @Override
    public @Nullable Departure leave(long now) {
        RedissonTenure current = owned();
        if (current.isOver(now)) {
            current.lose("its lease is over");
        }
        if (current.isUsable(now) && local.isWanted() && !isSliceOver(current, now)) {
            reportHandedOff();
            current.free();
            return null;
        }
        released(now - current.startNanos()).run();
        CompletableFuture<Boolean> released = release(current);
        return () -> {
            LeaseLostException known = current.loss();
            if (known == null && Boolean.FALSE.equals(session.await(released))) {
                known = current.lose("its owner in Redis had changed before it was released");
            }
            if (known != null) {
                throw new LeaseLostException(known);
            }
        };
    }

    final boolean isSliceOver(RedissonTenure current, long now) {
        return now - current.startNanos() >= settings().handoffSliceNanos();
    }

    /** The result says whether Redisson still knew this owner; it has none if Redis didn't answer. */
    private CompletableFuture<Boolean> release(RedissonTenure current) {
        tenure = null;
        current.over();
        CompletableFuture<Void> first = new CompletableFuture<>();
        // Known before the release is sent, which another thread may do.
        ending = first;
        AtomicBoolean isRepeated = new AtomicBoolean();
        CompletableFuture<Boolean> released = ReliableCommand.send(
                        session, commands, leaseMillis(current), RedissonLock::isFinal, isFirst -> {
                            CompletableFuture<Void> attempt = current.end();
                            if (isFirst) {
                                attempt.whenComplete((done, failure) -> first.complete(null));
                            } else {
                                isRepeated.set(true);
                            }
                            return attempt.thenApply(done -> true);
                        })
                .confirmed()
                .exceptionally(failure -> {
                    Throwable cause = Failures.cause(failure);
                    if (cause instanceof IllegalMonitorStateException) {
                        // The first attempt may have released it.
                        return isRepeated.get();
                    }
                    throw new IllegalStateException(cause);
                });
        released.whenComplete((done, failure) -> {
            if (current.mayComeLate()) {
                session.schedule(() -> giveBack(current), GIVEN_BACK_AGAIN_MILLIS);
            }
        });
        session.expect(released, released);
        session.unpin(this, this);
        return released;
    }

    private long leaseMillis(RedissonTenure current) {
        return current.leaseMillis == RENEWED ? watchdogMillis : current.leaseMillis;
    }

    // An owner that Redisson doesn't know has nothing to release.
    private static boolean isFinal(Throwable failure) {
        return failure instanceof IllegalMonitorStateException || failure instanceof RedissonShutdownException;
    }

    @Override
    protected final @Nullable RedissonTenure tenure() {
        return tenure;
    }

    @Override
    protected final LeaseLostException lose(RedissonTenure current, String reason) {
        return current.lose(reason);
    }

    /** Returns whether Redisson has refused the leader's request, and the leader goes on waiting. */
    final boolean hasRefused() {
        return refused;
    }

    /** A tenure has been lost. */
    final void lost(LeaseLostException loss) {
        if (isRelied()) {
            lostInside(loss);
        }
    }

    /** Gives up a tenure on which no thread is inside. Returns what tells the listener. */
    private Runnable giveUp(RedissonTenure current) {
        Runnable report = released(session.now() - current.startNanos());
        CompletableFuture<Boolean> ignored = release(current);
        return report;
    }

    @Override
    protected void relinquish() {
        withMutex(() -> {
                    RedissonTenure current = tenure;
                    return current != null && isUnwanted() && tryClose(current) ? giveUp(current) : NOTHING;
                })
                .run();
    }

    /**
     * Returns whether a tenure has been given up, or is about to be. The current thread has a share of the local half.
     */
    final boolean isClosed(RedissonTenure current) {
        return current.isClosed() && withMutex(() -> tenure != current);
    }

    private <R> R withMutex(Supplier<R> action) {
        mutex.lock();
        try {
            return action.get();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public long fencingToken() {
        assertValid();
        if (!(lock instanceof RFencedLock fenced)) {
            throw new UnsupportedOperationException("an adapted "
                    + lock.getClass().getSimpleName() + " has no fencing tokens; only an RFencedLock has");
        }
        return answer(fenced::getTokenAsync, "for the token of lock ");
    }

    private <T> T answer(Supplier<RFuture<T>> question, String what) {
        CompletableFuture<T> asked;
        try {
            asked = question.get().toCompletableFuture();
        } catch (RuntimeException e) {
            // A client that is shut down throws instead of returning a future.
            asked = CompletableFuture.failedFuture(e);
        }
        return session.answer(asked, what + Names.quoted(name));
    }

    @Override
    public RemoteConditions conditions() {
        throw new UnsupportedOperationException(
                "Redisson's protocol knows no conditions; a condition of the superclass would only be seen by the "
                        + "threads of this JVM. Locks that aren't adapted have them");
    }

    @Override
    protected String kindOfLock() {
        return "adapted lock";
    }

    @Override
    public boolean isLocked() {
        session.ensureOpen();
        return answer(lock::isLockedAsync, "for lock ");
    }

    @Override
    public @Nullable Renewal keep(long now) {
        RedissonTenure current = tenure;
        if (current == null) {
            return null;
        }
        if (current.loss() != null) {
            abandonLost();
        }
        if (!local.isHeld()) {
            cleanUp();
        } else if (current.loss() != null) {
            return null;
        } else if (current.isOver(now)) {
            current.lose("its lease is over");
        } else if (isShutDown()) {
            if (current.leaseMillis == RENEWED) {
                current.lose("its client is shut down, so that nobody renews it");
            }
        } else if (current.isToCheck(now)) {
            confirm(current);
        }
        return null;
    }

    @Override
    protected CompletableFuture<?> confirm(RedissonTenure current) {
        return current.check(session.now()).whenComplete((isHeld, failure) -> {
            if (Boolean.FALSE.equals(isHeld) && tenure == current) {
                current.lose("Redisson doesn't know this owner any more");
            } else if (failure != null && !Failures.isTransient(failure)) {
                UNCHECKED.say(
                        name,
                        often -> log.warn(
                                "Redisson refuses to say whether lock {} is still held: {}{}",
                                Names.quoted(name),
                                Failures.brief(failure),
                                often));
            }
        });
    }

    @Override
    public void pulse() {
        // Redisson waits by its own messages, with the remaining TTL as its bound.
    }

    @Override
    public CompletableFuture<?> close() {
        RedissonTenure current = tenure;
        wake();
        if (current == null) {
            return CompletableFuture.completedFuture(null);
        }
        current.lose("its session was closed");
        return current.end().exceptionally(failure -> null);
    }

    @Override
    public String toString() {
        RedissonTenure current = tenure;
        return current == null
                ? "no tenure"
                : "tenure " + current.owner + " over "
                        + current.lock().getClass().getSimpleName();
    }
}
