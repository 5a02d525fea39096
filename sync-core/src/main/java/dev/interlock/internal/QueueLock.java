package dev.interlock.internal;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.LockScripts.Released;
import dev.interlock.internal.LockScripts.Standing;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a lock over our own scripts: sessions stand in a queue in Redis and take turns.
 *
 * <p><b>How it works.</b> There is at most one {@link Tenure} (the session owns the name) or one {@link Ticket} (it has
 * asked for it). The thread that has the local half and finds no usable tenure is the <em>frontman</em>: it opens a ticket
 * and parks. Everything that changes a ticket or a tenure is an event, handled under {@link #mutex} by whichever thread
 * brings it: the reply to a command, a grant in the mailbox, a beat of the pulse or of the lease keeper. Each event ends by
 * waking the frontman, which looks at the state and nothing else. So a frontman may leave at any time: its ticket stays
 * for the next local thread, or is cancelled by {@link #tidy} if there is none.
 *
 * <p><b>Sequences.</b> Every request carries a fresh one, and a command acts only on the tenure or ticket of exactly its
 * sequence. Asking again is the same command with the same sequence, so lost, repeated and late ones do no harm. Whatever
 * a tenure can't do any more (its lease isn't the one that is wanted, its validity ran out between two threads, its
 * fencing tokens are used up) a new sequence that <em>continues</em> it can, in one command.
 *
 * <p><b>Validity.</b> A tenure counts as ours until the time at which the command was first sent that brought the reply,
 * plus the TTL in that reply, less a margin. A grant that was pushed says nothing of when it was made; but it was made
 * after the last reply that said "queued", so it is valid at least until that command's sending plus the lease. Later than
 * that, the session asks before it enters.
 *
 * <p><b>Lock order.</b> The local half, then {@link #mutex}. Nothing blocks under {@link #mutex}, and events never wait for
 * the local half.
 */
final class QueueLock extends AbstractRemoteLock {
    private static final Logger log = LoggerFactory.getLogger(QueueLock.class);

    /** After so long without word the frontman asks by itself, should the pulse have failed to. */
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

    /** How often a session that keeps a busy name looks for waiters that its mailbox has not told it of. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The least time for the first answer, however short the wait is. */
    private static final long FIRST_ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final String key;
    private final LockScripts scripts;

    private final ReentrantLock mutex = new ReentrantLock();
    private volatile @Nullable Tenure tenure;
    private volatile @Nullable Ticket ticket;
    private volatile long heardNanos;
    private @Nullable UnlockWatch watch;
    private long lastToken;
    private long notBeforeNanos;

    QueueLock(Session session, String name, String key, LocalHalf local) {
        super(session, name, local);
        this.key = key;
        this.scripts = session.scripts(key);
        this.notBeforeNanos = session.now();
    }

    // ---- the thread that has the local half

    @Override
    public boolean enterAtOnce(long start) {
        Tenure current = tenure;
        if (current == null || !current.renewed) {
            return false;
        }
        long now = session.now();
        if (!current.isUsable(now) || !current.drawToken()) {
            return false;
        }
        if (listening) {
            reportAcquired(now - start, true);
        }
        return true;
    }

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis, long start)
            throws InterruptedException {
        boolean once = waitNanos == 0;
        boolean timed = waitNanos != Long.MAX_VALUE;
        long begun = session.now();
        long grace = Math.min(FIRST_ANSWER_NANOS, commandTimeoutNanos());
        long patience = once ? commandTimeoutNanos() : waitNanos;
        boolean interrupted = false;
        boolean entered = false;
        frontman = Thread.currentThread();
        try {
            for (boolean first = true; ; first = false) {
                Advance advance = advance(leaseMillis, once, first, begun);
                if (advance == Advance.ENTERED) {
                    entered = true;
                    reportAcquired(session.now() - start, false);
                    return true;
                }
                if (Thread.interrupted()) {
                    if (interruptible) {
                        throw new InterruptedException();
                    }
                    interrupted = true;
                }
                boolean heard = heardNanos - begun > 0;
                if (advance == Advance.REFUSED) {
                    return false;
                }
                long waited = session.now() - begun;
                if (timed && waited >= patience && (heard || waited >= grace)) {
                    if (once || !heard || session.outage().isActive()) {
                        throw unavailable(waited);
                    }
                    return false;
                }
                if (!timed && isOutageTooLong()) {
                    throw unavailable(waited);
                }
                long left = timed ? Math.max(patience, heard ? 0 : grace) - waited : Long.MAX_VALUE;
                LockSupport.parkNanos(this, Math.min(left, untilNextAdvance()));
            }
        } finally {
            frontman = null;
            if (!entered) {
                withdrawIfSingle();
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private enum Advance {
        ENTERED,
        REFUSED,
        WAITING
    }

    private Advance advance(long leaseMillis, boolean once, boolean first, long begun) {
        mutex.lock();
        try {
            session.ensureOpen();
            long now = session.now();
            boolean renewed = leaseMillis == RENEWED;
            long wantedMillis = renewed ? settings.leaseMillis() : leaseMillis;
            Tenure current = tenure;
            long from = 0;
            if (current != null) {
                boolean usable = current.isUsable(now);
                boolean fits = current.renewed == renewed && current.leaseMillis == wantedMillis;
                if (usable && fits && current.drawToken()) {
                    return Advance.ENTERED;
                }
                from = current.sequence;
                tenure = null;
            }
            Ticket request = ticket;
            if (request == null) {
                if (once && !first && from == 0) {
                    return Advance.REFUSED;
                }
                request = new Ticket(session.nextSequence(), wantedMillis, renewed, !once, from, now);
                ticket = request;
                session.pin(key, this);
                session.ensureOpen();
                if (once || notBeforeNanos - now <= 0) {
                    ask(request, now);
                } else {
                    request.pollAtNanos = notBeforeNanos;
                }
            } else if (request.failure != null) {
                Throwable failure = request.failure;
                ticket = null;
                session.unpin(key, this);
                throw new IllegalStateException(
                        "Redis refuses to lock '" + key + "': " + failure.getMessage(), failure);
            } else if (once && request.queues && heardNanos - begun > 0) {
                return Advance.REFUSED;
            } else if (first || now - request.pollAtNanos >= 0 || isSilent(request, now)) {
                ask(request, now);
            }
            return Advance.WAITING;
        } finally {
            mutex.unlock();
        }
    }

    private long untilNextAdvance() {
        mutex.lock();
        try {
            Ticket request = ticket;
            if (request == null) {
                return 1;
            }
            long now = session.now();
            long next = request.inFlight ? request.sentNanos + silenceNanos() : request.pollAtNanos;
            return Math.max(1, Math.min(POLL_NANOS, next - now));
        } finally {
            mutex.unlock();
        }
    }

    private RedisUnavailableException unavailable(long waitedNanos) {
        return new RedisUnavailableException(
                "Redis has not answered for lock '" + name + "' within " + TimeUnit.NANOSECONDS.toMillis(waitedNanos)
                        + " ms",
                session.outage().cause());
    }

    // A request that doesn't queue is of no use to the next thread.
    private void withdrawIfSingle() {
        Ticket request = ticket;
        if (request != null && !request.queues) {
            withdraw(request);
        }
    }

    @Override
    public @Nullable Departure leave() {
        Tenure current = tenure;
        long now = session.now();
        if (current == null || !current.isUsable(now)) {
            return leaveLost(current);
        }
        if (local.isWanted() && !(current.demand && now - current.startNanos >= settings.handoffSliceNanos())) {
            if (now - current.lookAtNanos >= 0) {
                lookForDemand(current, now);
            }
            reportHandedOff();
            return null;
        }
        CompletableFuture<Released> released = giveUp(current, now);
        return () -> {
            Released what = session.await(released);
            if (what == Released.NOTHING && current.loss() == null) {
                throw lost(current, "its owner in Redis had changed before it was released");
            }
        };
    }

    private Departure leaveLost(@Nullable Tenure current) {
        mutex.lock();
        try {
            if (tenure == current) {
                tenure = null;
                settle();
            }
        } finally {
            mutex.unlock();
        }
        if (current == null) {
            throw new IllegalStateException("no tenure of '" + name + "' to leave");
        }
        LeaseLostException loss = lost(current, "its lease is over");
        releaseUntilConfirmed(current.sequence, current.leaseMillis, session.now());
        return () -> {
            throw new LeaseLostException(loss);
        };
    }

    private CompletableFuture<Released> giveUp(Tenure current, long now) {
        mutex.lock();
        try {
            tenure = null;
            // The plain RLock client that is told now needs a round trip to come; the next thread of ours needs none.
            notBeforeNanos =
                    now + (current.foreignDemand ? TimeUnit.MILLISECONDS.toNanos(LockScripts.YIELD_MILLIS) : 0);
            settle();
        } finally {
            mutex.unlock();
        }
        reportReleased(now - current.startNanos);
        return releaseUntilConfirmed(current.sequence, current.leaseMillis, now);
    }

    // The mailbox may be deaf, and plain RLock clients write no letters.
    private void lookForDemand(Tenure current, long now) {
        current.lookAtNanos = now + LOOK_NANOS;
        if (!current.demand && now - current.startNanos >= settings.handoffSliceNanos()) {
            renewNow(current, now);
        }
    }

    private void renewNow(Tenure current, long now) {
        Renewal renewal = null;
        mutex.lock();
        try {
            if (current.renewed && !current.renewing) {
                renewal = renewal(current, now);
            }
        } finally {
            mutex.unlock();
        }
        if (renewal != null) {
            session.renew(List.of(renewal));
        }
    }

    @Override
    public long fencingToken() {
        return valid().token();
    }

    @Override
    public void assertValid() {
        valid();
    }

    private Tenure valid() {
        Tenure current = tenure;
        if (current == null) {
            throw new IllegalStateException("no tenure of '" + name + "'");
        }
        if (!current.isUsable(session.now())) {
            throw new LeaseLostException(lost(current, "its lease is over"));
        }
        return current;
    }

    // ---- whoever leaves

    @Override
    boolean hasStake() {
        return tenure != null || ticket != null;
    }

    @Override
    void relinquish() {
        Tenure current = tenure;
        if (current != null) {
            giveUp(current, session.now());
        }
        Ticket request = ticket;
        if (request != null) {
            withdraw(request);
        }
    }

    private void withdraw(Ticket request) {
        mutex.lock();
        try {
            if (ticket != request) {
                return;
            }
            ticket = null;
            settle();
        } finally {
            mutex.unlock();
        }
        releaseUntilConfirmed(request.sequence, request.leaseMillis, session.now());
    }

    /** Repeats the release of a tenure or ticket until Redis has confirmed it, or its lease is over anyway. */
    private CompletableFuture<Released> releaseUntilConfirmed(long sequence, long leaseMillis, long begun) {
        CompletableFuture<Released> confirmed = new CompletableFuture<>();
        releaseUntilConfirmed(sequence, leaseMillis, begun, confirmed);
        return confirmed;
    }

    private void releaseUntilConfirmed(
            long sequence, long leaseMillis, long begun, CompletableFuture<Released> confirmed) {
        scripts.release(sequence, leaseMillis, lastToken + 1).whenComplete((released, failure) -> {
            if (failure == null) {
                confirmed.complete(released);
            } else if (ScriptRunner.isTransient(failure)
                    && session.now() - begun < TimeUnit.MILLISECONDS.toNanos(leaseMillis)) {
                log.debug("The release of '{}' is repeated", key, failure);
                session.schedule(
                        () -> releaseUntilConfirmed(sequence, leaseMillis, begun, confirmed),
                        TimeUnit.NANOSECONDS.toMillis(RETRY_NANOS));
            } else {
                log.warn("Lock '{}' could not be released in Redis; its lease will end it", key, failure);
                confirmed.completeExceptionally(failure);
            }
        });
    }

    // ---- events

    /** Sends the request, or asks how it stands. Called under the mutex. */
    private void ask(Ticket request, long now) {
        if (isSilent(request, now)) {
            session.outage().failed(request.sentNanos, new RedisUnavailableException("no answer", null));
        }
        request.inFlight = true;
        request.sentNanos = now;
        request.pollAtNanos = now + POLL_NANOS;
        scripts.acquire(request, lastToken + 1)
                .whenComplete((standing, failure) -> answered(request, now, standing, failure));
    }

    private boolean isSilent(Ticket request, long now) {
        return request.inFlight && now - request.sentNanos >= silenceNanos();
    }

    private long silenceNanos() {
        return Math.min(commandTimeoutNanos(), settings.redisTimeoutNanos());
    }

    private void answered(Ticket request, long sentNanos, @Nullable Standing standing, @Nullable Throwable failure) {
        mutex.lock();
        try {
            long now = session.now();
            if (standing != null) {
                heardNanos = now;
            }
            if (ticket != request) {
                return;
            }
            if (request.sentNanos == sentNanos) {
                request.inFlight = false;
            }
            if (standing != null) {
                stands(request, standing, sentNanos, now);
            } else if (failure != null && ScriptRunner.isTransient(failure)) {
                request.pollAtNanos = now + RETRY_NANOS;
            } else {
                request.failure = failure == null ? null : ScriptRunner.cause(failure);
            }
        } finally {
            mutex.unlock();
        }
        wake();
    }

    private void stands(Ticket request, Standing standing, long sentNanos, long now) {
        switch (standing.status()) {
            case GRANTED ->
                own(request, standing.token(), standing.waiters(), validity(sentNanos, standing.ttlMillis()), now);
            case QUEUED -> {
                if (sentNanos - request.queuedNanos > 0) {
                    request.queuedNanos = sentNanos;
                }
                request.queuedRedisMicros = Math.max(request.queuedRedisMicros, standing.redisMicros());
                long ttlNanos = TimeUnit.MILLISECONDS.toNanos(standing.ttlMillis() + 1);
                request.pollAtNanos = now + (ttlNanos > 0 ? Math.min(POLL_NANOS, ttlNanos) : POLL_NANOS);
                watch(standing.foreign());
            }
            case BUSY, OVER -> {
                ticket = null;
                settle();
            }
        }
    }

    /** The mailbox says that this session's ticket has been granted. */
    void granted(long sequence, long token, long redisMicros, boolean waiters) {
        mutex.lock();
        try {
            Ticket request = ticket;
            Tenure current = tenure;
            if (request == null || request.sequence != sequence) {
                if (current == null || current.sequence != sequence) {
                    releaseUntilConfirmed(sequence, settings.leaseMillis(), session.now());
                }
                return;
            }
            long now = session.now();
            long valid = validity(request.queuedNanos, request.leaseMillis);
            if (now - valid < 0
                    && redisMicros > request.queuedRedisMicros
                    && token > lastToken
                    && !session.runner().isReplicated()) {
                Tenure granted = own(request, token, waiters, valid, now);
                granted.renewAtNanos = now;
            } else {
                ask(request, now);
            }
        } finally {
            mutex.unlock();
        }
        wake();
    }

    private long validity(long sentNanos, long ttlMillis) {
        return sentNanos + TimeUnit.MILLISECONDS.toNanos(ttlMillis - Settings.marginMillis(ttlMillis));
    }

    private Tenure own(Ticket request, long token, boolean waiters, long validUntilNanos, long now) {
        Tenure granted = new Tenure(request, token, now, validUntilNanos);
        granted.demand = waiters;
        granted.renewAtNanos = now + renewalNanos();
        lastToken = Math.max(lastToken, token);
        ticket = null;
        tenure = granted;
        watch(false);
        return granted;
    }

    private long renewalNanos() {
        return TimeUnit.MILLISECONDS.toNanos(settings.leaseMillis()) / 3;
    }

    /** The mailbox says that another session waits. */
    void demanded(long sequence) {
        Tenure current = tenure;
        if (current != null && current.sequence == sequence) {
            current.demand = true;
        }
    }

    @Override
    public void pulse() {
        mutex.lock();
        try {
            Ticket request = ticket;
            long now = session.now();
            if (request != null
                    && request.queues
                    && (!request.inFlight || isSilent(request, now))
                    && notBeforeNanos - now <= 0) {
                ask(request, now);
            }
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public @Nullable Renewal keep(long now) {
        Tenure current = tenure;
        if (current == null || current.loss() != null) {
            return null;
        }
        if (!local.isHeld()) {
            tidy();
            return null;
        }
        if (!current.isUsable(now)) {
            expired(current);
            return null;
        }
        // Between two beats is too late for a loss that can be foreseen.
        long left = TimeUnit.NANOSECONDS.toMillis(current.validUntilNanos - now);
        if (left < 1_000) {
            session.schedule(() -> expired(current), left + 1);
        }
        mutex.lock();
        try {
            boolean due = current.renewed
                    && now - current.renewAtNanos >= 0
                    && (!current.renewing || now - current.renewalSentNanos >= silenceNanos());
            return due ? renewal(current, now) : null;
        } finally {
            mutex.unlock();
        }
    }

    private void expired(Tenure current) {
        if (tenure == current && !current.isUsable(session.now()) && current.loss() == null) {
            lost(current, "its lease is over");
            releaseUntilConfirmed(current.sequence, current.leaseMillis, session.now());
        }
    }

    private Renewal renewal(Tenure current, long now) {
        current.renewing = true;
        current.renewalSentNanos = now;
        return new Renewal(scripts.renew(current.sequence), (reply, failure) -> renewed(current, now, reply, failure));
    }

    private void renewed(Tenure current, long sentNanos, @Nullable List<Object> reply, @Nullable Throwable failure) {
        LockScripts.Renewal renewal = reply == null ? null : LockScripts.renewal(reply);
        long now = session.now();
        mutex.lock();
        try {
            current.renewing = false;
            if (renewal == null) {
                current.renewAtNanos = now + Math.min(RETRY_NANOS * 5, renewalNanos() / 3);
            } else if (renewal.owned()) {
                current.renewAtNanos = sentNanos + renewalNanos();
                long valid = validity(sentNanos, renewal.ttlMillis());
                if (valid - current.validUntilNanos > 0) {
                    current.validUntilNanos = valid;
                }
                current.foreignDemand = renewal.foreignWaiters();
                current.demand |= renewal.waiters() || renewal.foreignWaiters();
            }
        } finally {
            mutex.unlock();
        }
        long left = current.validUntilNanos - now;
        if (renewal == null) {
            Throwable cause = failure == null ? new IllegalStateException("no reply") : ScriptRunner.cause(failure);
            log.warn(
                    "The lease of '{}' could not be renewed, {} ms are left: {}",
                    key,
                    left / 1_000_000,
                    cause.toString());
            session.listeners().execute(() -> listener.renewalFailed(name, left, cause));
        } else if (!renewal.owned() && tenure == current) {
            lost(current, "Redis doesn't know this owner any more");
        } else if (listening && renewal.owned()) {
            session.listeners().execute(() -> listener.renewed(name, left));
        }
    }

    /** Marks a tenure lost; the first to see it tells everybody, if a thread was relying on it. */
    private LeaseLostException lost(Tenure current, String reason) {
        LeaseLostException news = current.lose(name, reason);
        if (news == null) {
            LeaseLostException known = current.loss();
            return known == null ? new LeaseLostException(name, current.token(), reason) : known;
        }
        reportLoss(news);
        return news;
    }

    @Override
    public CompletableFuture<?> close() {
        Tenure current = tenure;
        CompletableFuture<?> confirmed = CompletableFuture.completedFuture(null);
        if (current != null) {
            lost(current, "its session was closed");
            confirmed = scripts.release(current.sequence, current.leaseMillis, lastToken + 1);
        }
        Ticket request;
        mutex.lock();
        try {
            request = ticket;
            ticket = null;
            watch(false);
        } finally {
            mutex.unlock();
        }
        if (request != null) {
            confirmed = CompletableFuture.allOf(
                    confirmed, scripts.release(request.sequence, request.leaseMillis, lastToken + 1));
        }
        wake();
        return confirmed;
    }

    // Called under the mutex.
    private void settle() {
        if (tenure == null && ticket == null) {
            watch(false);
            session.unpin(key, this);
        }
    }

    // Called under the mutex.
    private void watch(boolean foreign) {
        if (foreign && watch == null) {
            watch = new UnlockWatch(session.client(), scripts.channel(), session.isSharded(), this::pulse);
        } else if (!foreign && watch != null) {
            watch.close();
            watch = null;
        }
    }

    // ---- views

    @Override
    public boolean isLocked() {
        session.ensureOpen();
        Boolean locked = session.await(scripts.inspect());
        if (locked == null) {
            throw unavailable(commandTimeoutNanos());
        }
        return locked;
    }

    @Override
    public String toString() {
        Tenure current = tenure;
        Ticket request = ticket;
        if (current != null) {
            boolean usable = current.isUsable(session.now());
            return (usable ? "tenure " : "lost tenure ") + current.sequence + " of " + session.id();
        }
        return request != null ? "ticket " + request.sequence + " of " + session.id() : "no tenure of " + session.id();
    }
}
