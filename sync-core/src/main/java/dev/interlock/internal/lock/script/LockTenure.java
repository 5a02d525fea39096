package dev.interlock.internal.lock.script;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.FencingTokens;
import dev.interlock.internal.lock.Tenure;
import dev.interlock.internal.lock.script.ConditionLog.Operations;
import dev.interlock.internal.lock.script.TicketQueue.Ticket;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.Lease;
import dev.interlock.internal.session.LeaseRenewer;
import dev.interlock.internal.session.LeaseRenewer.Scheduled;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.Participant.Renewal;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The interval in which a session owns a name, with its {@link Lease} and {@link FencingTokens}. Renews its lease in
 * time; knows whether others wait for the name.
 */
final class LockTenure extends Tenure {
    /** The lock it belongs to, and what the tenure tells that. */
    interface Owner extends Participant {
        /** Returns the name of the lock. */
        String name();

        /** A waiting thread may find what it waits for. */
        void changed();

        /** Another session, or a plain RLock client, waits for the name. */
        void demanded();

        /** No other session waits any more. */
        default void undemanded() {}

        /** Another session asks whether a thread is inside. */
        default void asked(Mail.IdleQuestion question) {}

        /** Another session owns the name, and was silent for so long that a thread of this one was refused. */
        default void unanswered(long waitedNanos) {}

        /** Returns whether a thread relies on the tenure, or is about to. */
        boolean isRelied();

        /** Returns whether a thread has entered on the tenure, and has not left. */
        @Override
        default boolean isInside() {
            return isRelied();
        }

        /** A tenure was lost that a thread relied on. */
        void lost(LeaseLostException loss);

        /**
         * Returns the command that renews the tenure of a sequence.
         *
         * @param renewedMillis the lease, or 0 to ask only how much is left of it
         */
        Call renewal(long sequence, long renewedMillis);

        /** Renews it by each of its keys alone, while these are split between nodes of a cluster. */
        CompletableFuture<List<Object>> prolong(long sequence, long renewedMillis);
    }

    /** What a tenure has a timer for. */
    enum Alarm {
        /** Its lease may be over. */
        EXPIRY,
        /** The time is over for which it is retained. */
        RETENTION,
        /** Its turn is over. */
        TURN
    }

    /** A renewal without an answer is repeated so soon at the earliest. */
    private static final long REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

    /** How often a session that keeps a busy name looks for waiters that its mailbox has not told it of. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** A lease so short may be over before the lease renewer comes by. */
    private static final long SHORT_MILLIS = 3_000;

    private final LeaseRenewer renewer;
    private final Owner owner;

    // From its ticket, which isn't kept: a session may own thousands of names for long.
    final long sequence;
    final long leaseMillis;
    final boolean renewed;
    private final boolean reads;
    private final long waiter;
    private final long grantMillis;

    final long startNanos;

    /**
     * When the session's turn began: with this tenure, or the one that it continues. Written under the mutex of the
     * monitor, read by others.
     */
    volatile long turnNanos;

    /**
     * The last of the session's tickets that are served on this tenure after its own, 0 for none. Written under the
     * mutex of the monitor, read by others.
     */
    volatile long run;

    /** Whether it is for reading only, beside other sessions. Written under the monitor's mutex, read by others. */
    volatile boolean shared;

    /** What its downgrade has to do with conditions, until that is confirmed. Used under the monitor's mutex. */
    Operations downgrading = Operations.NONE;

    /** Whether another session, or a plain RLock client, waits. */
    volatile boolean demand;

    volatile boolean foreignDemand;

    /** When that was last heard. */
    private long demandNanos;

    /**
     * Whether threads may wait for conditions of which this session has not all in mind. Used under the mutex of the
     * monitor.
     */
    boolean awaited;

    /** How many of its threads have begun to wait for a condition. Used under the monitor's mutex. */
    int awaits;

    /** Whether nobody else has had the name since the last token that the session was told before. */
    boolean isNext;

    /** Whether it has been seen to that its readers don't keep other readers out for long. */
    volatile boolean endsInTime;

    /** Whether it is kept although nobody of this session wants it at the moment. */
    volatile boolean retained;

    private final Lease lease;
    final FencingTokens tokens;
    private volatile boolean ended;

    /** Its timers, which end with it: names may change hands a thousand times a second. Empty until there is one. */
    @GuardedBy("this")
    private Map<Alarm, Scheduled> alarms = Map.of();

    /** When to look for demand again, or when that was last done. */
    volatile long lookAtNanos;

    /** When it is over in Redis, once it is lost. Written before it can be abandoned. */
    private long freeNanos;

    private long renewAtNanos;
    private long renewalSentNanos;
    private boolean renewing;

    /** Completes with the renewal that is under way, if a thread waits for that. */
    private @Nullable CompletableFuture<Void> confirmation;

    /**
     * Begins a tenure.
     *
     * @param sentNanos when the command was sent whose reply tells of its validity
     */
    LockTenure(
            LeaseRenewer renewer,
            Owner owner,
            Ticket ticket,
            long remoteToken,
            long nowNanos,
            long sentNanos,
            long validUntilNanos) {
        this.renewer = renewer;
        this.owner = owner;
        this.sequence = ticket.sequence;
        this.leaseMillis = ticket.leaseMillis;
        this.renewed = ticket.renewed;
        this.reads = ticket.reads;
        this.waiter = ticket.waiter;
        this.grantMillis = ticket.grantMillis;
        this.shared = reads;
        this.startNanos = nowNanos;
        this.turnNanos = nowNanos;
        this.demandNanos = nowNanos;
        this.lookAtNanos = nowNanos;
        this.renewalSentNanos = sentNanos;
        this.lease = new Lease(renewer.settings().suspensions(), sentNanos, validUntilNanos);
        this.tokens = new FencingTokens(remoteToken);
        // When a third of the lease is over: at once, if it began as a short one.
        this.renewAtNanos = validUntilNanos - 2 * renewer.settings().renewalNanos();
        if (!renewed && leaseMillis < SHORT_MILLIS) {
            setAlarm(Alarm.EXPIRY, this::expire, TimeUnit.NANOSECONDS.toMillis(validUntilNanos - nowNanos) + 1);
        }
    }

    /** Runs a task later, unless the tenure has ended by then, or another task for the same purpose takes its place. */
    synchronized void setAlarm(Alarm purpose, Runnable task, long millis) {
        if (ended) {
            return;
        }
        alarms = alarms.isEmpty() ? new EnumMap<>(Alarm.class) : alarms;
        Scheduled before = alarms.put(purpose, renewer.schedule(task, millis));
        if (before != null) {
            before.cancel();
        }
    }

    @Override
    public boolean isUsable(long nowNanos) {
        return lease.isValid(nowNanos);
    }

    @Override
    protected boolean draw() {
        return !shared && tokens.draw();
    }

    @Override
    public boolean isOver(long nowNanos) {
        return lease.isOver(nowNanos);
    }

    /** Returns whether Redis has to be asked before a thread enters on it: the machine was suspended. */
    boolean isInDoubt(long nowNanos) {
        return lease.isInDoubt() && !lease.isOver(nowNanos);
    }

    /**
     * Returns whether it has the lease that a thread wants. A fixed one is for the first thread that enters: what is
     * left of it is less.
     */
    boolean fits(boolean renewedLease, long wantedMillis) {
        boolean isWhole = renewed || !tokens.isDrawn();
        return isWhole && renewed == renewedLease && leaseMillis == wantedMillis;
    }

    /** Returns what its ticket was to scripts. */
    Ticket ticket() {
        Ticket ticket = new Ticket(leaseMillis, renewed, grantMillis, true, reads, 0);
        ticket.sequence = sequence;
        ticket.waiter = waiter;
        return ticket;
    }

    @Override
    public long token() {
        return tokens.current();
    }

    /** It is given up: from now on it can't be lost any more. */
    synchronized void end() {
        ended = true;
        alarms.values().forEach(Scheduled::cancel);
        alarms = Map.of();
    }

    // ---- demand

    /** Somebody else waits. */
    void demanded() {
        synchronized (this) {
            demandNanos = renewer.now();
            demand = true;
        }
        owner.demanded();
    }

    /** Nobody else waited when this was asked, at the earliest. What was heard since still holds. */
    void undemanded(long askedNanos) {
        synchronized (this) {
            if (!demand || !shared || askedNanos - demandNanos < 0) {
                return;
            }
            demand = false;
        }
        owner.undemanded();
    }

    /**
     * After a slice, asks now and then who waits: the mailbox may be deaf, and plain RLock clients write no letters.
     */
    void lookForDemand(long now, long sliceNanos) {
        if (!demand && now - lookAtNanos >= 0 && now - turnNanos >= sliceNanos) {
            lookAtNanos = now + LOOK_NANOS;
            renewNow();
        }
    }

    // ---- renewal

    /** Has the lease renewer renew it when it comes by next. */
    synchronized void renewSoon() {
        renewAtNanos = startNanos;
    }

    /** Notices a lease that is over soon, and returns the renewal that is due. */
    @Nullable
    Renewal keep(long now) {
        if (loss() != null) {
            return null;
        }
        // Between two beats would be too late to tell of a loss that can be foreseen.
        long leftMillis = TimeUnit.NANOSECONDS.toMillis(lease.validUntilNanos() - now);
        synchronized (this) {
            if (leftMillis < SHORT_MILLIS && !alarms.containsKey(Alarm.EXPIRY)) {
                setAlarm(Alarm.EXPIRY, this::expire, Math.max(0, leftMillis + 1));
            }
            boolean isDoubtNew = lease.isInDoubt() && isPutInDoubt(renewalSentNanos);
            boolean due = isDoubtNew || ((renewed || lease.isInDoubt()) && now - renewAtNanos >= 0);
            return due && !isUnderWay(now) && !isOver(now) ? renewal(now) : null;
        }
    }

    private boolean isPutInDoubt(long askedNanos) {
        return renewer.settings().suspensions().putInDoubt(askedNanos);
    }

    private boolean isUnderWay(long now) {
        boolean mayEndDoubt = renewing && !isPutInDoubt(renewalSentNanos);
        return mayEndDoubt
                && now - renewalSentNanos < Math.min(renewer.settings().silenceNanos(), patienceNanos(now));
    }

    // The less is left, the sooner it is sent again: a short lease would be over before a command is taken to be lost.
    private long patienceNanos(long now) {
        long left = lease.isInDoubt() ? 0 : lease.validUntilNanos() - now;
        return Math.max(Math.min(renewer.settings().retryNanos(), REPEAT_NANOS), left / 3);
    }

    /** Renews at once, for the sake of what the reply tells about waiters. */
    void renewNow() {
        Renewal renewal;
        long now = renewer.now();
        synchronized (this) {
            if (!(renewed || lease.isInDoubt()) || isUnderWay(now)) {
                return;
            }
            renewal = renewal(now);
        }
        renewer.renew(List.of(renewal));
    }

    /** Renews at once. The result completes with the answer, or when there can't be one. */
    CompletableFuture<?> confirm() {
        CompletableFuture<Void> answer;
        synchronized (this) {
            answer = confirmation == null ? new CompletableFuture<>() : confirmation;
            confirmation = answer;
        }
        renewNow();
        return answer;
    }

    // Of a lease of a fixed length, a renewal only tells how much is left.
    private Renewal renewal(long now) {
        renewing = true;
        renewalSentNanos = now;
        if (lease.isInDoubt()) {
            // Should there be no answer, it is repeated.
            renewAtNanos = now;
        }
        long millis = renewed ? leaseMillis : 0;
        return new Renewal(owner.renewal(sequence, millis), (reply, failure) -> {
            if (failure != null && Failures.isSplit(failure)) {
                owner.prolong(sequence, millis).whenComplete((prolonged, thrown) -> renewed(now, prolonged, thrown));
            } else {
                renewed(now, reply, failure);
            }
        });
    }

    private void renewed(long sentNanos, @Nullable List<Object> reply, @Nullable Throwable failure) {
        LockScripts.Renewal renewal = reply == null ? null : LockScripts.renewal(reply);
        long now = renewer.now();
        CompletableFuture<Void> waiting = null;
        boolean wasInDoubt;
        synchronized (this) {
            wasInDoubt = lease.isInDoubt();
            boolean isLatest = renewalSentNanos == sentNanos;
            renewing &= !isLatest;
            if (renewal == null && isLatest) {
                renewAtNanos = sentNanos + Math.min(renewer.settings().retryNanos(), patienceNanos(now));
            } else if (renewal != null && renewal.owned() && !isOver(now)) {
                // What was over in between may have had other owners, even if Redis knows this one again.
                renewAtNanos = sentNanos + renewer.settings().renewalNanos();
                lease.extendTo(sentNanos, Lease.validUntil(sentNanos, renewal.ttlMillis()));
            }
            if (isLatest || !lease.isInDoubt()) {
                waiting = confirmation;
                confirmation = null;
            }
        }
        told(sentNanos, renewal, failure, now);
        if (wasInDoubt && !lease.isInDoubt()) {
            owner.changed();
        }
        if (waiting != null) {
            waiting.complete(null);
        }
    }

    private void told(long sentNanos, LockScripts.@Nullable Renewal renewal, @Nullable Throwable failure, long now) {
        long left = lease.validUntilNanos() - now;
        if (renewal == null) {
            Throwable cause = failure == null ? new IllegalStateException("no reply") : Failures.cause(failure);
            renewer.renewalFailed(owner.name(), left, cause);
        } else if (renewal.owned()) {
            if (renewal.tellsOfOthers()) {
                foreignDemand = renewal.foreignWaiters();
            }
            if (renewal.waiters() || renewal.foreignWaiters()) {
                demanded();
            } else if (renewal.tellsOfOthers()) {
                undemanded(sentNanos);
            }
            renewer.renewed(owner.name(), left);
        } else if (!ended) {
            lose("Redis doesn't know this owner any more");
        }
    }

    // ---- loss

    private void expire() {
        synchronized (this) {
            if (ended) {
                return;
            }
            alarms.remove(Alarm.EXPIRY);
        }
        if (!ended && loss() == null && isOver(renewer.now())) {
            lose("its lease is over");
        }
    }

    /** Marks it lost, and tells the lock the first time, if a thread relies on it. Returns the loss. */
    LeaseLostException lose(String reason) {
        return lose(reason, owner::isRelied);
    }

    /** Marks it lost, and tells the lock the first time. Returns the loss. */
    LeaseLostException lose(String reason, boolean relied) {
        return lose(reason, () -> relied);
    }

    private LeaseLostException lose(String reason, BooleanSupplier isRelied) {
        LeaseLostException news = new LeaseLostException(owner.name(), tokens.current(), reason);
        LeaseLostException known = lease.lose(news);
        if (known != null) {
            return known;
        }
        freeNanos = lease.freeNanos(renewer.now(), leaseMillis);
        if (isRelied.getAsBoolean()) {
            owner.lost(news);
        } else {
            owner.changed();
        }
        return news;
    }

    @Override
    public @Nullable LeaseLostException loss() {
        return lease.loss();
    }

    @Override
    protected long freeNanos() {
        return freeNanos;
    }
}
