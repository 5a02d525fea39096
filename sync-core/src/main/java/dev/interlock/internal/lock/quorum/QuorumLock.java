package dev.interlock.internal.lock.quorum;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.lock.AbstractRemoteLock;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.RemoteConditions;
import dev.interlock.internal.lock.quorum.QuorumRelease.Verdict;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.QuorumSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
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
    /** The longest time between two rounds. */
    private static final long POLL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Upper bound of the random wait after the first round without a winner; it doubles with each further one. */
    private static final long BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

    private static final int MOST_DOUBLINGS = 6;

    /** When one node was freed the others are about to be. */
    private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** The pause of a session that has released the name to others. */
    private static final long YIELD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final QuorumScripts scripts;
    private final int majority;
    private volatile @Nullable QuorumTenure tenure;

    /** The leader's round. */
    private volatile @Nullable VoteRound round;

    /** How many nodes have been freed since the last round began. */
    private final AtomicInteger freed = new AtomicInteger();

    private final OpenRequests requests;

    // Only the thread that has the local half uses the fields that follow.

    /** The least token of the next tenure. */
    private long floor = 1;

    /** The release of the last tenure, until the next request. */
    private @Nullable QuorumRelease lastRelease;

    private long releasedNanos;

    /** Creates the remote half of the lock of this name. */
    public QuorumLock(QuorumSession session, String name, LocalLock local) {
        super(session, name, local);
        this.scripts = new QuorumScripts(session, name);
        this.majority = session.majority();
        this.requests = new OpenRequests(session, scripts);
    }

    @Override
    protected boolean enterOnTenure() {
        QuorumTenure current = tenure;
        return current != null && current.renewed && current.isUsable(session.now()) && current.tokens.draw();
    }

    // ---- acquisition

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis, long start)
            throws InterruptedException {
        RemoteWait wait = new RemoteWait(session, interruptible, waitNanos, waited -> unavailable(lastFailure()));
        boolean entered = false;
        leader = wait;
        session.pin(scripts.key(), this);
        try (wait) {
            entered = enter(wait, leaseMillis, start);
            return entered;
        } finally {
            leader = null;
            round = null;
            if (!entered) {
                requests.release();
                session.unpin(scripts.key(), this);
            }
        }
    }

    private boolean enter(RemoteWait wait, long leaseMillis, long start) throws InterruptedException {
        endTenure();
        if (!wait.isOnce()) {
            yieldToOthers(wait);
        }
        for (int attempt = 0; ; attempt++) {
            VoteRound next = ask(leaseMillis, !wait.isOnce());
            awaitAnswers(next, wait);
            if (next.isWon() && own(next)) {
                reportAcquired(session.now() - start, false);
                return true;
            }
            next.abandon();
            floor = Math.max(floor, next.greatestToken() + 1);
            if (!goesOnAfter(next, wait)) {
                return false;
            }
            pause(next, attempt, wait);
        }
    }

    // The next request releases the votes that the session still has, or at the latest the release of that request.
    private void endTenure() {
        QuorumTenure current = tenure;
        if (current != null) {
            tenure = null;
            current.end();
            reportReleased(session.now() - current.startNanos);
        }
    }

    private VoteRound ask(long leaseMillis, boolean waits) {
        session.ensureOpen();
        boolean renewed = leaseMillis == RENEWED;
        long millis = renewed ? settings.leaseMillis() : leaseMillis;
        freed.set(0);
        VoteRound.Request request = new VoteRound.Request(requests.begin(millis), millis, renewed, waits, floor);
        VoteRound next = new VoteRound(session, scripts, request, this::answered);
        round = next;
        next.begin();
        return next;
    }

    private void answered() {
        if (round != null) {
            wake();
        }
    }

    private void awaitAnswers(VoteRound asked, RemoteWait wait) throws InterruptedException {
        long patience = VoteRound.patienceNanos(session, asked.request.leaseMillis());
        long limit = Math.min(patience, wait.leftNanos());
        long deadline = asked.sentNanos() + limit;
        while (true) {
            wait.look();
            if (asked.isDecided()) {
                return;
            }
            wait.check();
            wait.checkOutage();
            long left = deadline - session.now();
            if (left <= 0) {
                // What the caller has no time for says nothing of the nodes.
                asked.expire(limit == patience);
                return;
            }
            wait.sleep(this, left);
        }
    }

    private boolean own(VoteRound won) {
        QuorumTenure next = won.win(this);
        if (next == null) {
            return false;
        }
        next.tokens.draw();
        floor = next.tokens.remotePart() + 1;
        tenure = next;
        if (session.isClosed()) {
            // It may have been closed before it could see this tenure.
            endTenure();
            session.ensureOpen();
        }
        return true;
    }

    /** Returns whether to ask again after a round that was not won. Throws if nothing is known. */
    private boolean goesOnAfter(VoteRound lost, RemoteWait wait) {
        Throwable refusal = lost.refusal();
        if (refusal != null) {
            throw Failures.refusal("lock " + Names.quoted(name), refusal);
        }
        Throwable failure = lost.failure();
        boolean refused = lost.isRefused();
        if (refused) {
            wait.heard();
        } else if (!lost.isCutShort()) {
            Throwable cause = failure != null ? failure : new RedisUnavailableException("no majority", null);
            session.outage().failed(lost.sentNanos(), cause);
        }
        if (!wait.isOnce()) {
            return wait.goesOn();
        }
        if (!refused) {
            throw unavailable(failure);
        }
        return false;
    }

    /** Waits before the next round: until nodes tell that they were freed, but not for long. */
    private void pause(VoteRound lost, int attempt, RemoteWait wait) throws InterruptedException {
        RandomGenerator random = session.random();
        long ttlMillis = lost.ownerTtlMillis();
        long nanos;
        if (ttlMillis < 0) {
            nanos = 1 + random.nextLong(BACKOFF_NANOS << Math.min(attempt, MOST_DOUBLINGS));
        } else {
            long leaseNanos = TimeUnit.MILLISECONDS.toNanos(Math.min(ttlMillis + 1, POLL_NANOS / 1_000_000));
            nanos = leaseNanos + random.nextLong(BACKOFF_NANOS * 4);
        }
        long settle = random.nextLong(SETTLE_NANOS, 3 * SETTLE_NANOS);
        awaitFreedNodes(session.now() + nanos, settle, wait);
    }

    private void awaitFreedNodes(long untilNanos, long settleNanos, RemoteWait wait) throws InterruptedException {
        long until = untilNanos;
        boolean settling = false;
        while (true) {
            wait.look();
            wait.check();
            int count = freed.get();
            if (count >= majority) {
                return;
            }
            long now = session.now();
            if (count > 0 && !settling) {
                settling = true;
                until = Math.min(until - now, settleNanos) + now;
            }
            long nanos = Math.min(until - now, wait.leftNanos());
            if (nanos <= 0) {
                return;
            }
            wait.sleep(this, nanos);
        }
    }

    /** Pauses if this session has released the name to others: it would win any race. */
    private void yieldToOthers(RemoteWait wait) throws InterruptedException {
        QuorumRelease last = lastRelease;
        if (last == null) {
            return;
        }
        lastRelease = null;
        long patience = VoteRound.patienceNanos(session, settings.leaseMillis());
        if (wait.until(last.verdict(), this, untilReleasedFor(patience, wait)) && last.isWaitedFor()) {
            long jitter = session.random().nextLong(YIELD_NANOS / 2);
            wait.until(() -> false, this, untilReleasedFor(YIELD_NANOS + jitter, wait));
        }
    }

    private long untilReleasedFor(long nanos, RemoteWait wait) {
        return Math.min(releasedNanos + nanos - session.now(), wait.callersLeftNanos());
    }

    /** Returns what the round has failed with, or else the nodes before. */
    private @Nullable Throwable lastFailure() {
        VoteRound last = round;
        Throwable failure = last == null ? null : last.failure();
        return failure == null ? session.outage().cause() : failure;
    }

    private RedisUnavailableException unavailable(@Nullable Throwable cause) {
        return new RedisUnavailableException(
                "No majority of the nodes has answered for lock " + Names.quoted(name), cause);
    }

    // ---- release

    @Override
    public @Nullable Departure leave() {
        QuorumTenure current = owned();
        long now = session.now();
        if (!current.isUsable(now)) {
            LeaseLostException loss = current.lose("its lease is over");
            release(current, now);
            return () -> {
                throw new LeaseLostException(loss);
            };
        }
        if (isWanted() && now - current.startNanos < settings.handoffSliceNanos()) {
            reportHandedOff();
            return null;
        }
        QuorumRelease release = release(current, now);
        return () -> {
            if (release != null && session.await(release.verdict()) == Verdict.LOST) {
                LeaseLostException loss = new LeaseLostException(
                        name,
                        current.tokens.current(),
                        "no majority of the nodes knew this owner when it was released");
                reportLoss(loss);
                throw new LeaseLostException(loss);
            }
        };
    }

    private @Nullable QuorumRelease release(QuorumTenure current, long now) {
        tenure = null;
        current.end();
        reportReleased(now - current.startNanos);
        QuorumRelease release = requests.release();
        lastRelease = release;
        releasedNanos = now;
        session.unpin(scripts.key(), this);
        return release;
    }

    @Override
    protected @Nullable QuorumTenure tenure() {
        return tenure;
    }

    @Override
    protected void giveUp(QuorumTenure current) {
        release(current, session.now());
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
        OwnerQuery query = OwnerQuery.of(session, scripts);
        if (!query.isKnown()) {
            throw unavailable(session.outage().cause());
        }
        return query.isOwned();
    }

    /** A tenure has been lost. */
    void lost(LeaseLostException loss) {
        if (isInUse()) {
            reportLoss(loss);
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
        QuorumTenure current = tenure;
        if (current != null) {
            current.keep(now);
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
            freed.incrementAndGet();
            wake();
        }
    }

    @Override
    public CompletableFuture<?> close() {
        QuorumTenure current = tenure;
        if (current != null) {
            current.lose("its session was closed");
        }
        CompletableFuture<?> closing = requests.close();
        wake();
        return closing;
    }

    @Override
    public String toString() {
        QuorumTenure current = tenure;
        VoteRound asked = round;
        if (current != null) {
            return (current.isUsable(session.now()) ? "tenure " : "lost tenure ") + current.sequence + " of "
                    + session.id() + " at " + current.strength() + " of "
                    + session.nodes().size() + " nodes";
        }
        return (asked == null ? "no tenure of " : "request " + asked.request.sequence() + " of ") + session.id();
    }
}
