package dev.interlock.internal.lock;

import com.google.common.primitives.ImmutableLongArray;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.internal.Mailbox.Message;
import dev.interlock.internal.ScriptRunner;
import dev.interlock.internal.Session;
import dev.interlock.internal.Settings;
import dev.interlock.internal.Stake;
import dev.interlock.internal.Stake.Renewal;
import dev.interlock.internal.lock.LockScripts.Standing;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session's claim to a name: a {@link Tenure} while it owns it, or a {@link Ticket} while it asks for it, never both.
 *
 * <p>Whatever changes the claim is an event, handled under {@link #mutex} by whichever thread brings it: a thread that
 * wants the name or is done with it, the reply to a command, a message in the mailbox, a beat of the pulse or of the lease
 * keeper. Events that concern a waiting thread end by waking it. Nothing blocks under the mutex, and no event waits for the
 * local half, which comes first in the lock order.
 */
final class Claim {
    private static final Logger log = LoggerFactory.getLogger(Claim.class);

    /** After so long without word a waiting thread asks by itself, should the pulse have failed to. */
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

    /** Between two attempts of a command that got no answer. */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** A lease so short may be over before the lease keeper comes by. */
    private static final long SHORT_MILLIS = 3_000;

    /** What a claim tells the lock it belongs to. */
    interface Owner {
        /** A waiting thread may find what it waits for. */
        void changed();

        /** Returns whether a thread relies on the tenure, or is about to. */
        boolean isRelied();

        /** A tenure was lost that a thread relied on. */
        void lost(LeaseLostException loss);
    }

    private final Session session;
    private final Settings settings;
    private final SyncListener listener;
    private final String name;
    private final String key;
    private final LockScripts scripts;
    private final Owner owner;
    private final Stake stake;

    private final ReentrantLock mutex = new ReentrantLock();
    private volatile @Nullable Tenure tenure;
    private volatile @Nullable Ticket ticket;
    private volatile long heardNanos;
    private @Nullable UnlockWatch watch;

    /** Remote part of the last fencing token. */
    private volatile long lastToken;

    private boolean closed;

    /** Whether the name was free when it was last asked for. */
    private boolean isLikelyFree = true;

    /** Before that, plain RLock clients have their turn. */
    private long notBeforeNanos;

    <L extends Owner & Stake> Claim(Session session, String name, String key, L lock) {
        this.session = session;
        this.settings = session.settings();
        this.listener = settings.listener();
        this.name = name;
        this.key = key;
        this.scripts = new LockScripts(session, key);
        this.owner = lock;
        this.stake = lock;
        this.notBeforeNanos = session.now();
    }

    @Nullable
    Tenure tenure() {
        return tenure;
    }

    @Nullable
    Ticket ticket() {
        return ticket;
    }

    LockScripts scripts() {
        return scripts;
    }

    /** Returns whether Redis has answered about this name since then. */
    boolean hasHeardSince(long nanos) {
        return heardNanos - nanos > 0;
    }

    // ---- threads that want the name, or are done with it; each has the local half

    enum Advance {
        ENTERED,
        REFUSED,
        WAITING
    }

    /**
     * Takes the next step towards a usable tenure. What a tenure can't do any more (its lease isn't the one that is wanted,
     * its validity ran out between two threads, its fencing tokens are used up) a new sequence that continues it can.
     *
     * @param once whether the request is over if the name isn't free
     * @param first whether this is the first step of the thread that calls
     * @param begun when that thread began
     */
    Advance advance(long leaseMillis, boolean once, boolean first, long begun) {
        mutex.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the Interlock session is closed");
            }
            session.ensureOpen();
            long now = session.now();
            boolean renewed = leaseMillis == RemoteLock.RENEWED;
            long wantedMillis = renewed ? settings.leaseMillis() : leaseMillis;
            Tenure current = tenure;
            long from = 0;
            if (current != null) {
                boolean fits = current.renewed == renewed && current.leaseMillis == wantedMillis;
                if (current.isUsable(now) && fits && current.drawToken()) {
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
                open(new Ticket(session.nextSequence(), wantedMillis, renewed, !once, from, now), now);
            } else if (request.failure != null) {
                throw refused(request, request.failure);
            } else if (once && request.queues && hasHeardSince(begun)) {
                return Advance.REFUSED;
            } else if (first || now - request.pollAtNanos >= 0 || isSilent(request, now)) {
                ask(request, now);
            }
            return Advance.WAITING;
        } finally {
            mutex.unlock();
        }
    }

    private void open(Ticket request, long now) {
        ticket = request;
        session.pin(key, stake);
        if (session.isClosed()) {
            // It may have missed this stake.
            ticket = null;
            settle();
            releaseContinued(request);
            session.ensureOpen();
        }
        if (!request.queues || notBeforeNanos - now <= 0) {
            ask(request, now);
        } else {
            request.pollAtNanos = notBeforeNanos;
        }
    }

    private IllegalStateException refused(Ticket request, Throwable failure) {
        ticket = null;
        settle();
        releaseContinued(request);
        return new IllegalStateException("Redis refuses to lock '" + key + "': " + failure.getMessage(), failure);
    }

    /** Returns for how long the thread that waits may sleep before it has to take another step by itself. */
    long untilNextAdvance() {
        mutex.lock();
        try {
            Ticket request = ticket;
            if (request == null) {
                return 1;
            }
            long next = request.inFlight ? request.sentNanos + silenceNanos() : request.pollAtNanos;
            return Math.max(1, Math.min(POLL_NANOS, next - session.now()));
        } finally {
            mutex.unlock();
        }
    }

    /** Cancels the ticket. */
    void withdraw(Ticket request) {
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
        release(request.sequence, request.leaseMillis).insist();
        releaseContinued(request);
    }

    // A request that was to continue a tenure may not have got through.
    private void releaseContinued(Ticket request) {
        if (request.from != 0) {
            release(request.from, request.leaseMillis).insist();
        }
    }

    /** Ends the tenure and releases the name. */
    Release giveUp(Tenure current) {
        mutex.lock();
        try {
            if (tenure == current) {
                tenure = null;
            }
            // The plain RLock client that is told now needs a round trip to come; the next thread of ours needs none.
            long yieldMillis = current.foreignDemand ? LockScripts.YIELD_MILLIS : 0;
            notBeforeNanos = session.now() + TimeUnit.MILLISECONDS.toNanos(yieldMillis);
            settle();
        } finally {
            mutex.unlock();
        }
        return new Release(session, scripts, current.sequence, current.leaseMillis, lastToken + 1, !current.demand);
    }

    private Release release(long sequence, long leaseMillis) {
        return new Release(session, scripts, sequence, leaseMillis, lastToken + 1, false);
    }

    // ---- replies and messages

    /** Sends the request, or asks how it stands. */
    private void ask(Ticket request, long now) {
        if (isSilent(request, now)) {
            session.outage().failed(request.sentNanos, new RedisUnavailableException("no answer", null));
        }
        boolean isFirst = request.sentNanos == Ticket.NEVER;
        request.inFlight = true;
        request.sentNanos = now;
        request.pollAtNanos = now + POLL_NANOS;
        CompletableFuture<Standing> reply = isFirst && isLikelyFree && request.from == 0
                ? scripts.takeOrAcquire(request, lastToken + 1)
                : scripts.acquire(request, lastToken + 1);
        reply.whenComplete((standing, failure) -> answered(request, now, standing, failure));
    }

    private boolean isSilent(Ticket request, long now) {
        return request.inFlight && now - request.sentNanos >= silenceNanos();
    }

    private long silenceNanos() {
        return Math.min(TimeUnit.MILLISECONDS.toNanos(settings.commandTimeoutMillis()), settings.redisTimeoutNanos());
    }

    private void answered(Ticket request, long sentNanos, @Nullable Standing standing, @Nullable Throwable failure) {
        mutex.lock();
        try {
            long now = session.now();
            if (standing != null) {
                heardNanos = now;
            }
            if (ticket != request) {
                Tenure current = tenure;
                boolean owned = current != null && current.sequence == request.sequence;
                if (standing != null && standing.status() == LockScripts.Status.GRANTED && !owned) {
                    // It was given up before this came; a release that overtook the request has not ended it.
                    release(request.sequence, request.leaseMillis).insist();
                }
                return;
            }
            if (request.sentNanos == sentNanos) {
                request.inFlight = false;
            }
            if (standing != null) {
                stands(request, standing, sentNanos, now);
            } else if (failure != null && ScriptRunner.isTransient(failure)) {
                request.pollAtNanos = now + RETRY_NANOS;
            } else if (failure != null) {
                request.failure = ScriptRunner.cause(failure);
            }
        } finally {
            mutex.unlock();
        }
        owner.changed();
    }

    private void stands(Ticket request, Standing standing, long sentNanos, long now) {
        switch (standing.status()) {
            case GRANTED -> {
                long valid = validity(sentNanos, standing.ttlMillis());
                isLikelyFree |= standing.redisMicros() == 0;
                own(request, standing.token(), standing.waiters(), valid, now);
            }
            case QUEUED -> {
                isLikelyFree = false;
                request.queuedAt(sentNanos, standing.redisMicros());
                long ttlNanos = TimeUnit.MILLISECONDS.toNanos(standing.ttlMillis() + 1);
                request.pollAtNanos = now + (ttlNanos > 0 ? Math.min(POLL_NANOS, ttlNanos) : POLL_NANOS);
                watch(standing.foreign());
            }
            case BUSY, OVER -> {
                isLikelyFree = false;
                ticket = null;
                settle();
            }
        }
    }

    void receive(Message message) {
        ImmutableLongArray numbers = message.numbers();
        switch (message.kind()) {
            case 'g' -> granted(numbers.get(0), numbers.get(1), numbers.get(2), numbers.get(3) > 0);
            case 'd' -> demanded(numbers.get(0));
            case 'p' -> session.schedule(this::pulse, numbers.get(0));
            default -> log.warn("Unknown message for '{}': {}", key, message);
        }
    }

    /**
     * A ticket was granted by somebody else's release. The message says nothing of how long it was on its way; but the
     * grant was made after the last reply that said "queued", so it is valid at least until that command's first sending
     * plus the lease. Later than that, or if a failover may yet undo it, Redis is asked before anybody enters.
     */
    private void granted(long sequence, long token, long redisMicros, boolean waiters) {
        mutex.lock();
        try {
            Ticket request = ticket;
            Tenure current = tenure;
            if (request == null || request.sequence != sequence) {
                if (current == null || current.sequence != sequence) {
                    release(sequence, settings.leaseMillis()).insist();
                }
                return;
            }
            long now = session.now();
            long valid = validity(request.queuedNanos(), request.leaseMillis);
            boolean newer = redisMicros > request.queuedRedisMicros() && token > lastToken;
            if (now - valid < 0 && newer && !session.runner().isReplicated()) {
                own(request, token, waiters, valid, now).renewAtNanos = now;
            } else {
                ask(request, now);
            }
        } finally {
            mutex.unlock();
        }
        owner.changed();
    }

    private void demanded(long sequence) {
        Tenure current = tenure;
        if (current != null && current.sequence == sequence) {
            current.demand = true;
        }
    }

    private static long validity(long sentNanos, long ttlMillis) {
        return sentNanos + TimeUnit.MILLISECONDS.toNanos(ttlMillis - Settings.marginMillis(ttlMillis));
    }

    private Tenure own(Ticket request, long token, boolean waiters, long validUntilNanos, long now) {
        Tenure granted = new Tenure(request, token, now, validUntilNanos);
        granted.demand = waiters;
        granted.renewAtNanos = now + renewalNanos();
        if (token <= lastToken) {
            // Redis has forgotten what it had counted to. The request that continues this one brings the floor.
            granted.exhaust();
        }
        lastToken = Math.max(lastToken, token);
        ticket = null;
        tenure = granted;
        watch(false);
        if (!request.renewed && request.leaseMillis < SHORT_MILLIS) {
            session.schedule(() -> expire(granted), TimeUnit.NANOSECONDS.toMillis(validUntilNanos - now) + 1);
        }
        return granted;
    }

    // ---- the beats of the session

    /** Asks how the ticket stands, if there is one. */
    void pulse() {
        mutex.lock();
        try {
            Ticket request = ticket;
            long now = session.now();
            if (request == null || !request.queues || notBeforeNanos - now > 0) {
                return;
            }
            if (!request.inFlight || isSilent(request, now)) {
                ask(request, now);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Looks after a tenure that a thread relies on, and returns its renewal if that is due. */
    @Nullable
    Renewal keep(long now) {
        Tenure current = tenure;
        if (current == null || current.loss() != null) {
            return null;
        }
        // Between two beats would be too late to tell of a loss that can be foreseen.
        long leftMillis = TimeUnit.NANOSECONDS.toMillis(current.validUntilNanos - now);
        if (leftMillis < SHORT_MILLIS) {
            session.schedule(() -> expire(current), Math.max(0, leftMillis + 1));
        }
        mutex.lock();
        try {
            boolean due = current.renewed && now - current.renewAtNanos >= 0;
            boolean free = !current.renewing || now - current.renewalSentNanos >= silenceNanos();
            return due && free && current.isUsable(now) ? renewal(current, now) : null;
        } finally {
            mutex.unlock();
        }
    }

    private void expire(Tenure current) {
        if (tenure == current && !current.isUsable(session.now()) && current.loss() == null) {
            lose(current, "its lease is over");
        }
    }

    /** Renews at once, for the sake of what the reply tells about waiters. */
    void renewNow(Tenure current) {
        Renewal renewal = null;
        mutex.lock();
        try {
            if (current.renewed && !current.renewing) {
                renewal = renewal(current, session.now());
            }
        } finally {
            mutex.unlock();
        }
        if (renewal != null) {
            session.renew(List.of(renewal));
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
            } else if (renewal.owned() && current.isUsable(now)) {
                // What was over in between may have had other owners, even if Redis knows this one again.
                current.renewAtNanos = sentNanos + renewalNanos();
                current.extend(validity(sentNanos, renewal.ttlMillis()));
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
                    "The lease of '{}' was not renewed, {} ms are left: {}",
                    key,
                    left / 1_000_000,
                    ScriptRunner.brief(cause));
            session.listeners().execute(() -> listener.renewalFailed(name, left, cause));
        } else if (renewal.owned()) {
            session.listeners().execute(() -> listener.renewed(name, left));
        } else if (tenure == current) {
            lose(current, "Redis doesn't know this owner any more");
        }
    }

    private long renewalNanos() {
        return TimeUnit.MILLISECONDS.toNanos(settings.leaseMillis()) / 3;
    }

    /** Marks a tenure lost, and tells the lock the first time if a thread relies on it. Returns the loss. */
    LeaseLostException lose(Tenure current, String reason) {
        LeaseLostException news = new LeaseLostException(name, current.token(), reason);
        LeaseLostException known = current.lose(news);
        if (known != null) {
            return known;
        }
        if (owner.isRelied()) {
            owner.lost(news);
        } else {
            owner.changed();
        }
        return news;
    }

    CompletableFuture<?> close() {
        CompletableFuture<?> confirmed = CompletableFuture.completedFuture(null);
        Tenure current;
        mutex.lock();
        try {
            closed = true;
            current = tenure;
            Ticket request = ticket;
            ticket = null;
            watch(false);
            if (current != null) {
                confirmed = release(current.sequence, current.leaseMillis).confirmed();
            } else if (request != null) {
                confirmed = release(request.sequence, request.leaseMillis).confirmed();
                releaseContinued(request);
            }
        } finally {
            mutex.unlock();
        }
        if (current != null) {
            lose(current, "its session was closed");
        }
        owner.changed();
        return confirmed;
    }

    /** Lets go of the stake, if there is none any more. */
    private void settle() {
        if (tenure == null && ticket == null) {
            watch(false);
            session.unpin(key, stake);
        }
    }

    private void watch(boolean foreign) {
        if (foreign && watch == null) {
            watch = UnlockWatch.open(session, scripts.channel(), this::pulse);
        } else if (!foreign && watch != null) {
            watch.close();
            watch = null;
        }
    }
}
