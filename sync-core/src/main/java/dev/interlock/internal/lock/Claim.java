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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session's claim to a name: the {@link Tickets} by which it asks for it, and the {@link Tenure} while it owns it. A plain
 * lock has one or the other, never both. Those tickets of a fair lock that are served on its tenure stand until they are.
 *
 * <p>Whatever changes the claim is an event, handled under {@link #mutex} by whichever thread brings it: a thread that
 * wants the name or is done with it, the reply to a command, a message in the mailbox, a beat of the pulse or of the lease
 * keeper. Events that concern a waiting thread end by waking it. Nothing blocks under the mutex, and no event waits for the
 * local half, which comes first in the lock order.
 *
 * <p>One command asks for all tickets, and there is one at a time: those who come meanwhile share the next. So sequences,
 * which tickets get when they are sent, reach Redis in their order.
 */
final class Claim {
    private static final Logger log = LoggerFactory.getLogger(Claim.class);

    /** After so long without word a waiting thread asks by itself, should the pulse have failed to. */
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

    /** Between two attempts of a command that got no answer. */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** A lease so short may be over before the lease keeper comes by. */
    private static final long SHORT_MILLIS = 3_000;

    /** What {@link #sentNanos} is before anything was sent. */
    private static final long NEVER = Long.MIN_VALUE;

    /** What a claim tells the lock it belongs to. */
    interface Owner {
        /** A waiting thread may find what it waits for. */
        void changed();

        /** Somebody else waits for what this session owns. */
        void demanded();

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
    private final boolean fair;
    private final LockScripts scripts;
    private final Owner owner;
    private final Stake stake;

    private final ReentrantLock mutex = new ReentrantLock();
    private final Tickets tickets = new Tickets();
    private volatile @Nullable Tenure tenure;
    private volatile long heardNanos;
    private @Nullable UnlockWatch watch;

    /** Remote part of the last fencing token. */
    private volatile long lastToken;

    /** The last tenure that was given up. */
    private long ended;

    private boolean closed;

    // ---- the command that asks for the tickets

    private boolean inFlight;
    private long sentNanos = NEVER;

    /** When to ask again. */
    private long pollAtNanos;

    /** What no repetition will mend. */
    private @Nullable Throwable failure;

    /** Tickets served on the tenure of another one, of which Redis doesn't know yet. */
    private final List<Ticket> used = new ArrayList<>();

    /** Tickets to be cancelled once the command that announces them has been answered, for a cancel must not overtake it. */
    private final List<Ticket> leaving = new ArrayList<>();

    /** Whether the name was free when it was last asked for. */
    private boolean isLikelyFree = true;

    /** Before that, plain RLock clients have their turn. */
    private long notBeforeNanos;

    <L extends Owner & Stake> Claim(Session session, String name, String key, boolean fair, L lock) {
        this.session = session;
        this.settings = session.settings();
        this.listener = settings.listener();
        this.name = name;
        this.key = key;
        this.fair = fair;
        this.scripts = new LockScripts(session, key);
        this.owner = lock;
        this.stake = lock;
        this.notBeforeNanos = session.now();
    }

    @Nullable
    Tenure tenure() {
        return tenure;
    }

    /** Returns the oldest ticket. */
    @Nullable
    Ticket ticket() {
        return tickets.first();
    }

    LockScripts scripts() {
        return scripts;
    }

    /** Returns whether Redis has answered about this name since then. */
    boolean hasHeardSince(long nanos) {
        return heardNanos - nanos > 0;
    }

    /** Returns whether the next thread in line may enter on that tenure. */
    boolean serves(Tenure current) {
        if (!fair) {
            return true;
        }
        Ticket next = tickets.first();
        return next != null && next.sequence != 0 && next.sequence <= current.run;
    }

    // ---- threads that want the name, or are done with it; each has the local half, but for those that announce
    // themselves

    enum Advance {
        ENTERED,
        REFUSED,
        WAITING
    }

    /** Gets the current thread, which is about to queue for the local half of a fair lock, a place in the queue of all. */
    void announce(long leaseMillis) {
        mutex.lock();
        try {
            if (!closed && !session.isClosed()) {
                placeOf(Thread.currentThread(), leaseMillis, session.now());
            }
        } finally {
            mutex.unlock();
        }
    }

    private Ticket placeOf(Thread thread, long leaseMillis, long now) {
        Ticket place = tickets.of(thread);
        if (place == null) {
            place = new Ticket(wanted(leaseMillis), leaseMillis == RemoteLock.RENEWED, true, 0, now);
            place.thread = thread;
            open(place, now);
        }
        return place;
    }

    private long wanted(long leaseMillis) {
        return leaseMillis == RemoteLock.RENEWED ? settings.leaseMillis() : leaseMillis;
    }

    /** Enters on a tenure of a fair lock that has come to this thread. */
    boolean enterAtOnce(long now) {
        mutex.lock();
        try {
            Tenure current = tenure;
            boolean mayEnter = current != null
                    && current.renewed
                    && serves(current)
                    && tickets.of(Thread.currentThread()) != null
                    && current.isUsable(now)
                    && current.drawToken();
            if (current != null && mayEnter) {
                serve(current);
            }
            return mayEnter;
        } finally {
            mutex.unlock();
        }
    }

    // The thread in front has the local half and is served first, whosever ticket is the oldest.
    private void serve(Tenure current) {
        if (fair) {
            Ticket served = tickets.serve(Thread.currentThread());
            if (served.sequence != current.sequence) {
                used.add(served);
            }
        }
    }

    /**
     * Takes the next step towards a usable tenure. What a tenure can't do any more (its lease isn't the one that is wanted,
     * its validity ran out between two threads, its fencing tokens are used up) a new sequence that continues it can.
     *
     * @param once whether the request is over if the name isn't free; it needs no place in a fair lock's queue
     * @param first whether this is the first step of the thread that calls, which wants an answer
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
            boolean isPlaced = fair && !once;
            Ticket request = isPlaced ? placeOf(Thread.currentThread(), leaseMillis, now) : tickets.first();
            Tenure current = tenure;
            if (current != null && (once || serves(current))) {
                return enterOrContinue(current, leaseMillis, once, now);
            }
            if (current != null) {
                // Those of its run have left.
                giveUp(current).insist();
            }
            if (request == null) {
                if (once && !first) {
                    return Advance.REFUSED;
                }
                open(newTicket(leaseMillis, !once, 0, now), now);
            } else if (failure != null) {
                throw refused(request, failure);
            } else if (once && request.queues && (fair || hasHeardSince(begun))) {
                return Advance.REFUSED;
            } else if ((first && !(fair && inFlight)) || now - pollAtNanos >= 0 || isSilent(now)) {
                ask(now);
            }
            return Advance.WAITING;
        } finally {
            mutex.unlock();
        }
    }

    private Advance enterOrContinue(Tenure current, long leaseMillis, boolean once, long now) {
        boolean fits =
                current.renewed == (leaseMillis == RemoteLock.RENEWED) && current.leaseMillis == wanted(leaseMillis);
        boolean barges = fair && once;
        if (fits && current.isUsable(now) && current.drawToken()) {
            if (!barges) {
                serve(current);
            }
            return Advance.ENTERED;
        }
        if (!barges) {
            serve(current);
        }
        end(current);
        Ticket next = newTicket(leaseMillis, !once, current.sequence, now);
        if (fair && !once) {
            next.thread = Thread.currentThread();
        }
        open(next, now);
        return Advance.WAITING;
    }

    private Ticket newTicket(long leaseMillis, boolean queues, long from, long now) {
        return new Ticket(wanted(leaseMillis), leaseMillis == RemoteLock.RENEWED, queues, from, now);
    }

    private void end(Tenure current) {
        ended = Math.max(ended, current.sequence);
        tenure = null;
    }

    private void open(Ticket request, long now) {
        tickets.add(request);
        session.pin(key, stake);
        if (session.isClosed()) {
            // It may have missed this stake.
            tickets.remove(request);
            settle();
            releaseContinued(request);
            session.ensureOpen();
        }
        if (inFlight) {
            return;
        }
        if (!request.queues || notBeforeNanos - now <= 0) {
            ask(now);
        } else {
            pollAtNanos = notBeforeNanos;
        }
    }

    private IllegalStateException refused(Ticket request, Throwable cause) {
        failure = null;
        tickets.remove(request);
        settle();
        releaseContinued(request);
        return new IllegalStateException("Redis refuses to lock '" + key + "': " + cause.getMessage(), cause);
    }

    /** Returns for how long the thread that waits may sleep before it has to take another step by itself. */
    long untilNextAdvance() {
        mutex.lock();
        try {
            if (tickets.first() == null) {
                return 1;
            }
            long next = inFlight ? sentNanos + silenceNanos() : pollAtNanos;
            return Math.max(1, Math.min(POLL_NANOS, next - session.now()));
        } finally {
            mutex.unlock();
        }
    }

    /** Cancels the place of a thread that has left the queue for the local half of a fair lock. */
    void depart(Thread thread) {
        mutex.lock();
        try {
            Ticket place = tickets.of(thread);
            if (place != null) {
                withdraw(place);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Cancels a ticket. */
    void withdraw(Ticket request) {
        mutex.lock();
        try {
            if (!tickets.contains(request)) {
                return;
            }
            tickets.remove(request);
            Tenure current = tenure;
            boolean isGranted = current != null && current.sequence == request.sequence;
            if (request.sequence != 0 && !isGranted) {
                cancel(request);
            }
            releaseContinued(request);
            settle();
        } finally {
            mutex.unlock();
        }
    }

    private void cancel(Ticket request) {
        if (fair && inFlight) {
            leaving.add(request);
        } else {
            release(request).insist();
        }
    }

    // A request that was to continue a tenure may not have got through.
    private void releaseContinued(Ticket request) {
        if (request.from != 0) {
            Ticket continued = new Ticket(request.leaseMillis, request.renewed, true, 0, session.now());
            continued.sequence = request.from;
            release(continued).insist();
        }
    }

    /** Ends the tenure and releases the name. */
    Release giveUp(Tenure current) {
        mutex.lock();
        try {
            if (tenure == current) {
                end(current);
            }
            // The plain RLock client that is told now needs a round trip to come; the next thread of ours needs none.
            long yieldMillis = current.foreignDemand ? LockScripts.YIELD_MILLIS : 0;
            notBeforeNanos = session.now() + TimeUnit.MILLISECONDS.toNanos(yieldMillis);
            settle();
            List<Ticket> served = List.copyOf(used);
            used.clear();
            return new Release(session, scripts, current.ticket, served, lastToken + 1, !current.demand);
        } finally {
            mutex.unlock();
        }
    }

    private Release release(Ticket request) {
        return new Release(session, scripts, request, List.of(), lastToken + 1, false);
    }

    // ---- replies and messages

    /** Asks for what isn't granted, or asks how that stands. */
    private void ask(long now) {
        List<Ticket> asked = tickets.due(tenure);
        if (asked.isEmpty()) {
            return;
        }
        if (isSilent(now)) {
            session.outage().failed(sentNanos, new RedisUnavailableException("no answer", null));
        }
        Ticket first = asked.get(0);
        boolean isFirst = first.sequence == 0;
        for (Ticket ticket : asked) {
            if (ticket.sequence == 0) {
                ticket.sequence = session.nextSequence();
            }
        }
        inFlight = true;
        sentNanos = now;
        pollAtNanos = now + POLL_NANOS;
        List<Ticket> served = List.copyOf(used);
        long earlier = first.from != 0 ? first.from : fair ? LockScripts.LEFT_ALONE : LockScripts.ENDED;
        boolean takes = isFirst && isLikelyFree && first.from == 0 && asked.size() == 1 && served.isEmpty();
        CompletableFuture<Standing> reply = takes
                ? scripts.takeOrAcquire(first, earlier, lastToken + 1)
                : scripts.acquire(asked, earlier, lastToken + 1, served);
        reply.whenComplete((standing, thrown) -> {
            mutex.lock();
            try {
                used.removeAll(served);
                answered(asked, now, standing, thrown);
            } finally {
                mutex.unlock();
            }
            owner.changed();
        });
    }

    private boolean isSilent(long now) {
        return inFlight && now - sentNanos >= silenceNanos();
    }

    private long silenceNanos() {
        return Math.min(TimeUnit.MILLISECONDS.toNanos(settings.commandTimeoutMillis()), settings.redisTimeoutNanos());
    }

    private void answered(List<Ticket> asked, long sent, @Nullable Standing standing, @Nullable Throwable thrown) {
        long now = session.now();
        boolean isLatest = sentNanos == sent;
        if (isLatest) {
            inFlight = false;
        }
        if (standing != null) {
            heardNanos = now;
            stand(asked, standing, sent, now);
        } else if (thrown != null && !ScriptRunner.isTransient(thrown)) {
            failure = tickets.first() == null ? null : ScriptRunner.cause(thrown);
        } else if (isLatest) {
            pollAtNanos = now + RETRY_NANOS;
        }
        if (!inFlight) {
            leaving.forEach(ticket -> release(ticket).insist());
            leaving.clear();
            if (standing != null && tickets.hasUnsent()) {
                ask(now);
            }
        }
    }

    private void stand(List<Ticket> asked, Standing standing, long sent, long now) {
        standing.over().forEach(this::over);
        boolean isBusy = standing.status() == LockScripts.Status.BUSY;
        if (standing.status() != LockScripts.Status.GRANTED) {
            isLikelyFree = false;
        }
        for (Ticket ticket : asked) {
            if (isBusy && tickets.contains(ticket)) {
                tickets.remove(ticket);
            } else if (ticket.sequence != standing.owner()) {
                ticket.from = 0;
                ticket.queuedAt(sent, standing.redisMicros());
            }
        }
        if (standing.status() == LockScripts.Status.GRANTED) {
            isLikelyFree |= standing.redisMicros() == 0;
            long valid = validity(sent, standing.ttlMillis());
            Tenure granted = own(standing.owner(), standing.token(), standing.run(), standing.waiters(), valid, now);
            if (granted != null) {
                granted.renewAtNanos = now + Math.min(renewalNanos(), Math.max(0, valid - now) / 3);
            }
        } else if (standing.status() == LockScripts.Status.QUEUED) {
            long ttlNanos = TimeUnit.MILLISECONDS.toNanos(standing.ttlMillis() + 1);
            pollAtNanos = now + (ttlNanos > 0 ? Math.min(POLL_NANOS, ttlNanos) : POLL_NANOS);
            watch(standing.foreign() && tickets.first() != null);
            if (standing.owner() != 0) {
                ownedAnyway(standing.owner(), standing.run());
            }
        }
        settle();
    }

    private void over(long sequence) {
        Ticket ticket = tickets.of(sequence);
        Tenure current = tenure;
        if (ticket == null || (current != null && current.sequence == sequence)) {
            return;
        }
        if (ticket.thread == null) {
            tickets.remove(ticket);
        } else {
            tickets.renew(ticket);
        }
    }

    // What the session owns by another sequence than it has asked for: its tenure, or what it doesn't want any more.
    private void ownedAnyway(long sequence, long run) {
        Tenure current = tenure;
        if (current != null && current.sequence == sequence) {
            current.run = Math.max(current.run, run);
        } else if (sequence > ended && tickets.of(sequence) == null) {
            releaseUnwanted(sequence);
        }
    }

    private void releaseUnwanted(long sequence) {
        Ticket unwanted = new Ticket(settings.leaseMillis(), true, true, 0, session.now());
        unwanted.sequence = sequence;
        release(unwanted).insist();
    }

    void receive(Message message) {
        ImmutableLongArray numbers = message.numbers();
        switch (message.kind()) {
            case 'g' -> granted(numbers.get(0), numbers.get(1), numbers.get(2), numbers.get(3) > 0, numbers.get(4));
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
    private void granted(long sequence, long token, long redisMicros, boolean waiters, long run) {
        mutex.lock();
        try {
            Ticket request = tickets.of(sequence);
            if (request == null || tenure != null) {
                ownedInVain(request, sequence, run);
                return;
            }
            long now = session.now();
            long valid = validity(request.queuedNanos(), request.grantMillis());
            boolean newer = redisMicros > request.queuedRedisMicros() && token > lastToken;
            if (now - valid < 0 && newer && !session.runner().isReplicated()) {
                Tenure granted = own(sequence, token, run, waiters, valid, now);
                if (granted != null) {
                    granted.renewAtNanos = now;
                }
            } else {
                ask(now);
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
            owner.demanded();
        }
    }

    private static long validity(long sentNanos, long ttlMillis) {
        return sentNanos + TimeUnit.MILLISECONDS.toNanos(ttlMillis - Settings.marginMillis(ttlMillis));
    }

    /** Makes a tenure of a ticket, unless it is none of ours any more, or there is a tenure. */
    private @Nullable Tenure own(long sequence, long token, long run, boolean waiters, long validUntilNanos, long now) {
        Ticket request = tickets.of(sequence);
        if (request == null || tenure != null) {
            ownedInVain(request, sequence, run);
            return null;
        }
        Tenure granted = new Tenure(request, token, now, validUntilNanos);
        granted.run = run;
        granted.demand = waiters;
        if (token <= lastToken) {
            // Redis has forgotten what it had counted to. The request that continues this one brings the floor.
            granted.exhaust();
        }
        lastToken = Math.max(lastToken, token);
        if (request.thread == null) {
            tickets.remove(request);
        }
        tenure = granted;
        watch(false);
        if (!request.renewed && request.leaseMillis < SHORT_MILLIS) {
            session.schedule(() -> expire(granted), TimeUnit.NANOSECONDS.toMillis(validUntilNanos - now) + 1);
        }
        return granted;
    }

    // Granted is what nobody waits for any more, what is a tenure already, or what can't be one because Redis has
    // forgotten
    // a tenure that a thread still relies on. That last one's waiter has to queue again.
    private void ownedInVain(@Nullable Ticket request, long sequence, long run) {
        Tenure current = tenure;
        if (request != null && current != null && current.sequence != sequence) {
            tickets.renew(request);
            releaseUnwanted(sequence);
        } else {
            ownedAnyway(sequence, run);
        }
    }

    // ---- the beats of the session

    /** Asks how the tickets stand, if there are any. */
    void pulse() {
        mutex.lock();
        try {
            Ticket request = tickets.first();
            long now = session.now();
            if (request == null || !request.queues || notBeforeNanos - now > 0) {
                return;
            }
            if (!inFlight || isSilent(now)) {
                ask(now);
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
                if (renewal.waiters() || renewal.foreignWaiters()) {
                    current.demand = true;
                    owner.demanded();
                }
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
        Tenure current;
        CompletableFuture<?> confirmed;
        mutex.lock();
        try {
            closed = true;
            current = tenure;
            watch(false);
            List<CompletableFuture<?>> releases = new ArrayList<>();
            if (current != null) {
                releases.add(release(current.ticket).confirmed());
            }
            for (Ticket request : tickets.clear()) {
                if (request.sequence != 0) {
                    releases.add(release(request).confirmed());
                }
                releaseContinued(request);
            }
            confirmed = CompletableFuture.allOf(releases.toArray(CompletableFuture<?>[]::new));
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
        if (tenure == null && tickets.first() == null) {
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
