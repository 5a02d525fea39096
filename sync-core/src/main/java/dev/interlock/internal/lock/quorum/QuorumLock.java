package dev.interlock.internal.lock.quorum;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.lock.AbstractRemoteLock;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.quorum.QuorumRelease.Verdict;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.QuorumSession;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of a lock over an odd number of independent nodes: whoever has the votes of a majority owns the name.
 * The idea is that of <a href="https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Redlock</a>;
 * what it lacks, tokens that increase (<a
 * href="https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">Kleppmann</a>), a second phase
 * adds, see {@link VoteRound}.
 *
 * <p>There is no queue: nodes don't know of each other, and could disagree about its order. The leader asks all nodes,
 * and if it gets no majority gives back what it got and waits for a random while, so that two who got in each other's
 * way don't do so again. If one session has the majority it waits for longer: for word from the nodes which that
 * session leaves, each of which tells whoever has waited longest there, or for the end of the lease, but no more than
 * about a second. A session that left the name to others stands back for a moment, since it would win any race.
 */
public final class QuorumLock extends AbstractRemoteLock<QuorumSession> {
    /** So long a thread waits at most before it asks anew, whatever it has been told. */
    private static final long POLL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The first random wait after a round without a winner. Each further one may be twice as long. */
    private static final long BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

    private static final int MOST_DOUBLINGS = 6;

    /** Where one node has been left the others follow. */
    private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** How long a session stands back that has left the name to others. */
    private static final long STAND_BACK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** The least time for the first answer, however short the wait is. */
    private static final long FIRST_ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final QuorumScripts scripts;
    private final int majority;
    private volatile @Nullable QuorumTenure tenure;

    /** What the leader has under way. */
    private volatile @Nullable VoteRound round;

    /** How many nodes have been left since the last round began. */
    private final AtomicInteger news = new AtomicInteger();

    // Guarded by the local half, but that close() reads them.

    /** The last sequence that this session has asked with, 0 if none is open. */
    private volatile long openSequence;

    private volatile long openLeaseMillis;
    private long floor = 1;
    private @Nullable QuorumRelease departure;

    /** The last one that was begun. */
    private @Nullable QuorumRelease latest;

    private long departedNanos;

    /** Creates the remote half of the lock of this name. */
    public QuorumLock(QuorumSession session, String name, LocalLock local) {
        super(session, name, local);
        this.scripts = new QuorumScripts(session, name);
        this.majority = session.nodes().size() / 2 + 1;
    }

    @Override
    public boolean enterAtOnce(long start) {
        QuorumTenure current = tenure;
        long now = session.now();
        if (current == null || !current.renewed || !current.isUsable(now) || !current.drawToken()) {
            return false;
        }
        reportAcquired(now - start, true);
        return true;
    }

    // ---- acquisition

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis, long start)
            throws InterruptedException {
        Wait wait = new Wait(interruptible, waitNanos);
        boolean entered = false;
        leader = Thread.currentThread();
        session.pin(scripts.key(), this);
        try {
            supersede();
            if (!wait.once) {
                standBack(wait);
            }
            for (int attempt = 0; ; attempt++) {
                VoteRound next = ask(leaseMillis, !wait.once);
                awaitAnswers(next, wait);
                if (next.isWon() && own(next)) {
                    entered = true;
                    reportAcquired(session.now() - start, false);
                    return true;
                }
                next.abandon();
                floor = Math.max(floor, next.greatestToken() + 1);
                if (!wait.goesOnAfter(next)) {
                    return false;
                }
                pause(next, attempt, wait);
            }
        } finally {
            leader = null;
            round = null;
            if (!entered) {
                withdraw();
                session.unpin(scripts.key(), this);
            }
            if (wait.interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // What the session still has is given up by the next request, or at the latest when it is withdrawn.
    private void supersede() {
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
        news.set(0);
        openLeaseMillis = Math.max(openLeaseMillis, millis);
        openSequence = session.nextSequence();
        VoteRound next = new VoteRound(session, scripts, openSequence, millis, renewed, waits, floor, this::answered);
        round = next;
        next.begin();
        return next;
    }

    private void answered() {
        if (round != null) {
            wake();
        }
    }

    private void awaitAnswers(VoteRound asked, Wait wait) throws InterruptedException {
        long patience = VoteRound.patienceNanos(session, asked.leaseMillis);
        long limit = Math.min(patience, wait.left());
        long deadline = asked.sentNanos() + limit;
        while (true) {
            changed = false;
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
            if (!changed) {
                LockSupport.parkNanos(this, left);
            }
        }
    }

    private boolean own(VoteRound won) {
        QuorumTenure next = won.win(this);
        if (next == null) {
            return false;
        }
        next.drawToken();
        floor = next.remoteToken + 1;
        openLeaseMillis = next.leaseMillis;
        tenure = next;
        if (session.isClosed()) {
            // It may have been closed before it could see this tenure.
            supersede();
            session.ensureOpen();
        }
        return true;
    }

    /** Waits before the next round: for word that nodes have been left, but not for long. */
    private void pause(VoteRound lost, int attempt, Wait wait) throws InterruptedException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long ttlMillis = lost.ownerTtlMillis();
        long nanos;
        if (ttlMillis < 0) {
            nanos = 1 + random.nextLong(BACKOFF_NANOS << Math.min(attempt, MOST_DOUBLINGS));
        } else {
            long leaseNanos = TimeUnit.MILLISECONDS.toNanos(Math.min(ttlMillis + 1, POLL_NANOS / 1_000_000));
            nanos = leaseNanos + random.nextLong(BACKOFF_NANOS * 4);
        }
        long settle = random.nextLong(SETTLE_NANOS, 3 * SETTLE_NANOS);
        sleep(session.now() + nanos, settle, wait);
    }

    private void sleep(long untilNanos, long settleNanos, Wait wait) throws InterruptedException {
        long until = untilNanos;
        boolean settling = false;
        while (true) {
            changed = false;
            wait.check();
            int left = news.get();
            if (left >= majority) {
                return;
            }
            long now = session.now();
            if (left > 0 && !settling) {
                settling = true;
                until = Math.min(until - now, settleNanos) + now;
            }
            long nanos = Math.min(until - now, wait.left());
            if (nanos <= 0) {
                return;
            }
            if (!changed) {
                LockSupport.parkNanos(this, nanos);
            }
        }
    }

    private void standBack(Wait wait) throws InterruptedException {
        QuorumRelease last = departure;
        if (last == null) {
            return;
        }
        departure = null;
        long patience = VoteRound.patienceNanos(session, settings.leaseMillis());
        last.verdict().whenComplete((verdict, failure) -> answeredDeparture());
        while (!last.verdict().isDone()) {
            changed = false;
            wait.check();
            long now = session.now();
            long nanos = Math.min(departedNanos + patience - now, wait.courtesy());
            if (nanos <= 0) {
                return;
            }
            if (!changed && !last.verdict().isDone()) {
                LockSupport.parkNanos(this, nanos);
            }
        }
        if (last.isWaitedFor()) {
            long jitter = ThreadLocalRandom.current().nextLong(STAND_BACK_NANOS / 2);
            long until = departedNanos + STAND_BACK_NANOS + jitter;
            while (until - session.now() > 0 && wait.courtesy() > 0) {
                wait.check();
                LockSupport.parkNanos(this, Math.min(until - session.now(), wait.courtesy()));
            }
        }
    }

    private void answeredDeparture() {
        if (leader != null) {
            wake();
        }
    }

    /** How long the leader waits, and what has become of it. */
    private final class Wait {
        private final boolean interruptible;
        private final boolean once;
        private final boolean timed;
        private final long patience;
        private final long grace;
        private final long begun = session.now();
        private boolean interrupted;
        private boolean heard;

        Wait(boolean interruptible, long waitNanos) {
            this.interruptible = interruptible;
            this.once = waitNanos == 0;
            this.timed = waitNanos != Long.MAX_VALUE;
            this.patience = once ? commandTimeoutNanos() : waitNanos;
            this.grace = Math.max(patience, Math.min(FIRST_ANSWER_NANOS, commandTimeoutNanos()));
        }

        /** Returns how much is left, of the time for a first answer if there has been none. */
        long left() {
            return timed ? (heard ? patience : grace) - (session.now() - begun) : Long.MAX_VALUE;
        }

        /** Returns how much is left of what the caller would wait. */
        long courtesy() {
            return timed ? patience - (session.now() - begun) : Long.MAX_VALUE;
        }

        void check() throws InterruptedException {
            session.ensureOpen();
            if (Thread.interrupted()) {
                if (interruptible) {
                    throw new InterruptedException();
                }
                interrupted = true;
            }
        }

        // Those who queue behind each other fail together.
        void checkOutage() {
            if (!timed && isOutageTooLong()) {
                throw unavailable(session.outage().cause());
            }
        }

        /** Returns whether to ask again after a round that nobody has won. Throws if nothing is known. */
        boolean goesOnAfter(VoteRound lost) {
            Throwable refusal = lost.refusal();
            if (refusal != null) {
                throw Failures.refusal("lock " + Keys.quoted(name), refusal);
            }
            Throwable failure = lost.failure();
            boolean refused = lost.isRefused();
            heard |= refused;
            if (!refused && !lost.isCutShort()) {
                Throwable cause = failure != null ? failure : new RedisUnavailableException("no majority", null);
                session.outage().failed(lost.sentNanos(), cause);
            }
            if (once) {
                if (!refused) {
                    throw unavailable(failure);
                }
                return false;
            }
            checkOutage();
            if (left() > 0) {
                return true;
            }
            if (!heard || session.outage().isActive()) {
                throw unavailable(failure);
            }
            return false;
        }
    }

    private RedisUnavailableException unavailable(@Nullable Throwable cause) {
        return new RedisUnavailableException(
                "No majority of the nodes has answered for lock " + Keys.quoted(name), cause);
    }

    // ---- release

    /** Gives up all that this session has asked for. */
    private @Nullable QuorumRelease withdraw() {
        long sequence = openSequence;
        if (sequence == 0) {
            return null;
        }
        openSequence = 0;
        // At nodes that are away for long there is one to be told of, not one for each turn.
        long leaseMillis = latest == null ? openLeaseMillis : Math.max(openLeaseMillis, latest.leaseLeftMillis());
        QuorumRelease withdrawal = new QuorumRelease(session, scripts, sequence, leaseMillis).begin();
        if (latest != null) {
            latest.supersede();
        }
        latest = withdrawal;
        openLeaseMillis = 0;
        return withdrawal;
    }

    @Override
    public @Nullable Departure leave() {
        QuorumTenure current = owned();
        long now = session.now();
        if (!current.isUsable(now)) {
            LeaseLostException loss = current.lose("its lease is over");
            giveUp(current, now);
            return () -> {
                throw new LeaseLostException(loss);
            };
        }
        if (isWanted() && now - current.startNanos < settings.handoffSliceNanos()) {
            reportHandedOff();
            return null;
        }
        QuorumRelease withdrawal = giveUp(current, now);
        return () -> {
            if (withdrawal != null && session.await(withdrawal.verdict()) == Verdict.LOST) {
                LeaseLostException loss = new LeaseLostException(
                        name, current.token(), "no majority of the nodes knew this owner when it was released");
                reportLoss(loss);
                throw new LeaseLostException(loss);
            }
        };
    }

    private @Nullable QuorumRelease giveUp(QuorumTenure current, long now) {
        tenure = null;
        current.end();
        reportReleased(now - current.startNanos);
        QuorumRelease withdrawal = withdraw();
        departure = withdrawal;
        departedNanos = now;
        session.unpin(scripts.key(), this);
        return withdrawal;
    }

    @Override
    protected boolean hasStake() {
        return tenure != null && leader == null;
    }

    @Override
    protected void relinquish() {
        QuorumTenure current = tenure;
        if (current != null) {
            giveUp(current, session.now());
        }
    }

    // ---- questions

    @Override
    public long fencingToken() {
        return valid().token();
    }

    @Override
    public void assertValid() {
        valid();
    }

    private QuorumTenure valid() {
        QuorumTenure current = owned();
        if (!current.isUsable(session.now())) {
            throw new LeaseLostException(current.lose("its lease is over"));
        }
        return current;
    }

    private QuorumTenure owned() {
        QuorumTenure current = tenure;
        if (current == null) {
            throw new IllegalStateException("no tenure of " + Keys.quoted(name));
        }
        return current;
    }

    @Override
    public Conditions conditions() {
        throw new UnsupportedOperationException(
                "a quorum has no conditions: its nodes don't know of each other, and could disagree about who was signalled");
    }

    @Override
    public boolean isLocked() {
        session.ensureOpen();
        OwnerQuery survey = OwnerQuery.of(session, scripts);
        if (!survey.isKnown()) {
            throw unavailable(session.outage().cause());
        }
        return survey.isOwned();
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
            tidy();
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
            news.incrementAndGet();
            wake();
        }
    }

    @Override
    public CompletableFuture<?> close() {
        QuorumTenure current = tenure;
        if (current != null) {
            current.lose("its session was closed");
        }
        long sequence = openSequence;
        wake();
        return sequence == 0
                ? CompletableFuture.completedFuture(null)
                : new QuorumRelease(session, scripts, sequence, openLeaseMillis)
                        .begin()
                        .everywhere();
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
        return (asked == null ? "no tenure of " : "request " + asked.sequence + " of ") + session.id();
    }
}
