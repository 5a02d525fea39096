package dev.interlock.internal.quorum;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.lock.AbstractRemoteLock;
import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.RemoteConditions;
import dev.interlock.internal.quorum.QuorumRelease.Verdict;
import dev.interlock.internal.quorum.VoteRound.Defeat;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.RemoteWait;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of a lock over an odd number of independent nodes: the session that has the votes of a majority owns
 * the name. The idea is that of <a
 * href="https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Redlock</a>; what it lacks, tokens
 * that increase (<a href="https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">Kleppmann</a>), a
 * second phase adds, see {@link VoteRound}.
 *
 * <p>There is no queue: nodes don't know of each other, and could disagree about its order. The leader asks all nodes.
 * If it gets no majority it gives back the votes that it got, and waits for a random time, so that two sessions that
 * split the votes don't split them again. If another session has the majority, the leader waits for longer: until nodes
 * tell that they were freed (each tells the session that has waited longest there), or the lease is over, but no more
 * than about a second. A session that has released the name to others pauses before it asks again, since it would win
 * any race.
 */
public final class QuorumLock extends AbstractRemoteLock<QuorumSession, QuorumTenure> {
    /** When one node was freed the others are about to be. */
    private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** The pause of a session that has released the name to others. */
    private static final long YIELD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final QuorumMonitor monitor;

    // Only the thread that has the local half uses the fields that follow, or one that has closed the tenure, with the
    // monitor's mutex.

    /** The release of the last tenure, until the next request. */
    private @Nullable QuorumRelease lastRelease;

    private long releasedNanos;

    /** Creates the remote half of the lock of this name. */
    public QuorumLock(QuorumSession session, String name, Halves<?> local) {
        super(session, name, local);
        this.monitor = new QuorumMonitor(session, name, this::answered, this::lost);
    }

    @Override
    protected String kindOfLock() {
        return "quorum lock";
    }

    @Override
    protected boolean enterOn(QuorumTenure current) {
        return current.renewed && current.take(entering(session.now()));
    }

    // ---- acquisition

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis) throws InterruptedException {
        RemoteWait wait = newWait(interruptible, waitNanos, waited -> unavailable(lastFailure()));
        leader = wait;
        try (wait) {
            return outlastsLost(wait) && enterAnew(wait, leaseMillis);
        } finally {
            leader = null;
        }
    }

    private boolean enterAnew(RemoteWait wait, long leaseMillis) throws InterruptedException {
        boolean entered = false;
        try {
            begin();
            entered = enter(wait, leaseMillis);
            return entered;
        } finally {
            if (!entered) {
                monitor.release();
                session.unpin(monitor.key(), this);
            }
        }
    }

    // The leader is known by now, so no other thread gives anything up after that. The next request releases the votes
    // that the session still has, or at the latest the release of that request.
    private void begin() {
        monitor.<Runnable>call(known -> {
                    session.pin(monitor.key(), this);
                    return endTenure(known);
                })
                .run();
    }

    private boolean enter(RemoteWait wait, long leaseMillis) throws InterruptedException {
        if (!wait.isOnce()) {
            yieldToOthers(wait);
        }
        boolean renewed = leaseMillis == RENEWED;
        long millis = renewed ? settings().leaseMillis() : leaseMillis;
        for (int attempt = 0; ; attempt++) {
            wait.ensureOpen();
            VoteRound asked = monitor.ask(millis, renewed, !wait.isOnce());
            awaitAnswers(asked, wait);
            if (own(asked)) {
                entering(session.now());
                return true;
            }
            Defeat defeat = monitor.call(known -> known.abandon(asked));
            if (!goesOnAfter(defeat, asked.sentNanos, wait)) {
                return false;
            }
            awaitFreedNodes(defeat.pauseNanos(attempt, session.random()), wait);
        }
    }

    /** Returns what tells the listener. */
    private Runnable endTenure(QuorumState known) {
        QuorumTenure ended = known.endTenure();
        return ended == null ? NOTHING : released(session.now() - ended.startNanos);
    }

    private void awaitAnswers(VoteRound asked, RemoteWait wait) throws InterruptedException {
        long patience = VoteRound.patienceNanos(settings(), asked.request.leaseMillis());
        long limit = Math.min(patience, wait.leftNanos());
        if (!wait.until(() -> isDecided(asked, wait), this, asked.sentNanos + limit - session.now())) {
            // What the caller has no time for says nothing of the nodes.
            monitor.run(known -> asked.expire(limit == patience));
        }
    }

    private boolean isDecided(VoteRound asked, RemoteWait wait) {
        boolean isDecided = monitor.call(known -> asked.isDecided());
        if (!isDecided) {
            wait.checkOutage();
        }
        return isDecided;
    }

    private void answered() {
        if (leader != null) {
            wake();
        }
    }

    private boolean own(VoteRound asked) {
        if (monitor.call(known -> known.own(asked, settings().suspensions().look())) == null) {
            return false;
        }
        if (session.isClosed()) {
            // It may have been closed before it could see this tenure.
            monitor.call(this::endTenure).run();
            session.ensureOpen();
        }
        return true;
    }

    /** Returns whether to ask again after a round that was not won. Throws if nothing is known. */
    private boolean goesOnAfter(Defeat defeat, long sentNanos, RemoteWait wait) {
        Throwable refusal = defeat.refusal();
        if (refusal != null) {
            throw Failures.refusal("lock " + Names.quoted(name), refusal);
        }
        Throwable failure = defeat.failure();
        if (defeat.refused()) {
            wait.heard();
        } else if (!defeat.cutShort()) {
            Throwable cause = failure != null ? failure : new RedisUnavailableException("no majority", null);
            session.outage().failed(sentNanos, cause);
        }
        if (!wait.isOnce()) {
            return wait.goesOn();
        }
        if (!defeat.refused()) {
            throw unavailable(failure);
        }
        return false;
    }

    /** Waits before the next round: until nodes tell that they were freed, but not for long. */
    private void awaitFreedNodes(long nanos, RemoteWait wait) throws InterruptedException {
        long until = session.now() + nanos;
        long settle = session.random().nextLong(SETTLE_NANOS, 3 * SETTLE_NANOS);
        if (wait.until(() -> countFreed() > 0, this, Math.min(nanos, wait.leftNanos()))) {
            long left = Math.min(until - session.now(), wait.leftNanos());
            wait.until(() -> countFreed() >= session.majority(), this, Math.min(settle, left));
        }
    }

    private int countFreed() {
        return monitor.call(known -> known.freed);
    }

    /** Pauses if this session has released the name to others: it would win any race. */
    private void yieldToOthers(RemoteWait wait) throws InterruptedException {
        QuorumRelease last = lastRelease;
        if (last == null) {
            return;
        }
        lastRelease = null;
        long patience = VoteRound.patienceNanos(settings(), settings().leaseMillis());
        if (wait.until(last.verdict, this, untilReleasedFor(patience, wait))
                && monitor.call(known -> last.isWaitedFor())) {
            long jitter = session.random().nextLong(YIELD_NANOS / 2);
            wait.until(() -> false, this, untilReleasedFor(YIELD_NANOS + jitter, wait));
        }
    }

    private long untilReleasedFor(long nanos, RemoteWait wait) {
        return Math.min(releasedNanos + nanos - session.now(), wait.callersLeftNanos());
    }

    /** Returns what the round has failed with, or else the nodes before. */
    private @Nullable Throwable lastFailure() {
        Throwable failure = monitor.call(QuorumState::failure);
        return failure == null ? session.outage().cause() : failure;
    }

    private RedisUnavailableException unavailable(@Nullable Throwable cause) {
        return new RedisUnavailableException(
                "No majority of the nodes has answered for lock " + Names.quoted(name), cause);
    }

    // ---- release

    @Override
    public @Nullable Departure leave(long now) {
        QuorumTenure current = owned();
        if (current.isOver(now)) {
            LeaseLostException loss = lose(current, "its lease is over");
            release(now);
            return () -> {
                throw new LeaseLostException(loss);
            };
        }
        if (isWanted()
                && current.isUsable(now)
                && now - current.startNanos < settings().handoffSliceNanos()) {
            reportHandedOff();
            current.free();
            return null;
        }
        QuorumRelease release = release(now);
        return () -> {
            if (release != null && session.await(release.verdict) == Verdict.LOST) {
                LeaseLostException loss = new LeaseLostException(
                        name,
                        current.tokens.current(),
                        "no majority of the nodes knew this owner when it was released");
                reportLoss(loss);
                throw new LeaseLostException(loss);
            }
        };
    }

    private @Nullable QuorumRelease release(long now) {
        monitor.call(this::endTenure).run();
        return releaseAll(now);
    }

    private @Nullable QuorumRelease releaseAll(long now) {
        lastRelease = monitor.release();
        releasedNanos = now;
        session.unpin(monitor.key(), this);
        return lastRelease;
    }

    @Override
    protected CompletableFuture<?> confirm(QuorumTenure current) {
        return monitor.confirm(current);
    }

    @Override
    protected @Nullable QuorumTenure tenure() {
        return monitor.tenure();
    }

    @Override
    protected LeaseLostException lose(QuorumTenure current, String reason) {
        return monitor.call(known -> current.lose(reason, session.now()));
    }

    @Override
    protected void relinquish() {
        monitor.<Runnable>call(known -> {
                    QuorumTenure current = known.tenure();
                    if (current == null || !isUnwanted() || !tryClose(current)) {
                        return NOTHING;
                    }
                    Runnable report = endTenure(known);
                    releaseAll(session.now());
                    return report;
                })
                .run();
    }

    // ---- questions

    @Override
    public long fencingToken() {
        return valid().tokens.current();
    }

    @Override
    public RemoteConditions conditions() {
        throw new UnsupportedOperationException(
                "a quorum has no conditions: its nodes don't know of each other, and could disagree about who was "
                        + "signalled");
    }

    @Override
    public boolean isLocked() {
        session.ensureOpen();
        OwnerQuery query = monitor.inspect();
        Throwable refusal = monitor.call(known -> query.refusal());
        if (refusal != null) {
            throw Failures.refusal("lock " + Names.quoted(name), refusal);
        }
        if (!monitor.call(known -> query.isKnown())) {
            throw unavailable(session.outage().cause());
        }
        return monitor.call(known -> query.isOwned());
    }

    /** A tenure has been lost. */
    void lost(LeaseLostException loss) {
        if (isRelied()) {
            lostInside(loss);
        } else {
            wake();
        }
    }

    // ---- what the session tells

    @Override
    public @Nullable Renewal keep(long now) {
        if (!local.isHeld()) {
            cleanUp();
        }
        QuorumTenure current = tenure();
        if (current != null && current.loss() != null) {
            abandonLost();
        } else if (current != null) {
            monitor.keep(current, now);
        }
        return null;
    }

    @Override
    public void pulse() {
        // The leader asks anew by itself.
    }

    @Override
    public void receive(Mail mail) {
        if (mail instanceof Mail.NodeFreed && leader != null) {
            monitor.run(known -> known.freed++);
            wake();
        }
    }

    @Override
    public CompletableFuture<?> close() {
        QuorumTenure current = tenure();
        if (current != null) {
            lose(current, "its session was closed");
        }
        CompletableFuture<?> closing = monitor.close();
        wake();
        return closing;
    }

    @Override
    public String toString() {
        return monitor.call(known -> known.describe(session.id(), session.now()));
    }
}
