package dev.interlock.internal.lock.script;

import com.google.common.base.Strings;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.Suspensions;
import dev.interlock.internal.lock.FencingTokens;
import dev.interlock.internal.lock.Tenure;
import dev.interlock.internal.lock.script.LockEffect.LookAt;
import dev.interlock.internal.lock.script.LockEffect.Plain;
import dev.interlock.internal.lock.script.LockEffect.Renew;
import dev.interlock.internal.lock.script.LockEffect.Report;
import dev.interlock.internal.lock.script.LockScripts.Operations;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Effects;
import dev.interlock.internal.session.Lease;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The interval in which a session owns a name, with its {@link Lease} and {@link FencingTokens}: a part of the
 * {@link LockState}. Knows when its lease is to be renewed, and whether others wait for the name. Events change it
 * under the mutex of the state's owner; what is volatile threads read without.
 */
final class LockTenure extends Tenure {
    /** A renewal without an answer is repeated so soon at the earliest. */
    private static final long REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

    /** How often a session that keeps a busy name looks for waiters that its mailbox has not told it of. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** A lease of which less is left may be over before the lease renewer comes by. */
    private static final long SHORT_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final Settings settings;

    // From its ticket, which isn't kept: a session may own thousands of names for long.
    final long sequence;
    final long leaseMillis;
    final boolean renewed;
    private final boolean reads;
    private final long waiter;
    private final long grantMillis;

    final long startNanos;

    /** When the session's turn began: with this tenure, or the one that it continues. */
    volatile long turnNanos;

    /** The last of the session's tickets that are served on this tenure after its own, 0 for none. Only grows. */
    volatile long run;

    /** Whether it is for reading only, beside other sessions. Once it is, it remains so. */
    volatile boolean shared;

    /** What its downgrade has to do with conditions, until that is confirmed. */
    Operations downgrading = Operations.NONE;

    /** Whether another session, or a plain RLock client, waits. */
    volatile boolean demand;

    volatile boolean foreignDemand;

    /** When that was last heard. */
    private long demandNanos;

    /** Whether threads may wait for conditions of which this session has not all in mind. */
    boolean awaited;

    /** How many of its threads have begun to wait for a condition. */
    private int awaits;

    /** Whether it is shared when its turn is over, so that its readers don't keep other readers out for long. */
    volatile boolean endsInTime;

    /** Whether it is kept when nobody of this session wants it, until that is looked at again. */
    volatile boolean retained;

    private final Lease lease;
    final FencingTokens tokens;

    /** When to look for demand again, or when that was last done. */
    volatile long lookAtNanos;

    /** When it is over in Redis, once it is lost. Written before it can be abandoned. */
    private long freeNanos;

    private volatile long renewAtNanos;
    private long renewalSentNanos;

    /** The longest time to live that Redis has told of a fixed lease since it was extended, 0 if it never was. */
    private long extendedMillis;

    /** Whether the last renewal that was sent has no answer yet. */
    private boolean renewing;

    /**
     * Begins a tenure.
     *
     * @param sentNanos when the command was sent whose reply tells of its validity
     */
    LockTenure(
            Settings settings, Ticket ticket, long remoteToken, long nowNanos, long sentNanos, long validUntilNanos) {
        this.settings = settings;
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
        this.lease = new Lease(settings.suspensions(), sentNanos, validUntilNanos);
        this.tokens = new FencingTokens(remoteToken);
        // When a third of the lease is over: at once, if it began as a short one.
        this.renewAtNanos = validUntilNanos - 2 * settings.renewalNanos();
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

    /** Returns the place of the next thread that waits for a condition, as text that sorts by its time. */
    String nextPosition() {
        String position = padded(tokens.remotePart(), 16) + padded(awaits, 9);
        awaits++;
        return position;
    }

    private static String padded(long number, int digits) {
        return Strings.padStart(Long.toString(number), digits, '0');
    }

    // ---- demand

    /** Somebody else waits. */
    void demanded(long now, Effects<LockEffect> out) {
        demandNanos = now;
        demand = true;
        out.add(Plain.DEMANDED);
    }

    /** Nobody else waited when this was asked, at the earliest. What was heard since still holds. */
    void undemanded(long askedNanos, Effects<LockEffect> out) {
        if (demand && shared && askedNanos - demandNanos >= 0) {
            demand = false;
            out.add(Plain.UNDEMANDED);
        }
    }

    /**
     * Returns whether it is time to ask who waits, as is done now and then after a slice: a message can be lost, and
     * plain RLock clients send none.
     */
    boolean looksForDemand(long now, long sliceNanos) {
        boolean isDue = !demand && now - lookAtNanos >= 0 && now - turnNanos >= sliceNanos;
        if (isDue) {
            lookAtNanos = now + LOOK_NANOS;
        }
        return isDue;
    }

    // ---- renewal

    /** Has the lease renewer renew it when it comes by next. */
    void renewSoon() {
        renewAtNanos = startNanos;
    }

    /** Looks again when it is over, if that is before the lease renewer comes by for sure. */
    void lookAtEnd(long now, Effects<LockEffect> out) {
        if (lease.validUntilNanos() - now < SHORT_NANOS) {
            out.add(new LookAt(lease.validUntilNanos()));
        }
    }

    /** Returns whether there may be something to do for the lease renewer. Threads ask without the mutex. */
    boolean isToBeKept(long now) {
        return now - renewAtNanos >= 0 || lease.isInDoubt() || lease.validUntilNanos() - now < SHORT_NANOS;
    }

    /** The lease renewer comes by. Returns the renewal that is due, to be sent with those of other names. */
    @Nullable
    Renew keep(long now, Effects<LockEffect> out) {
        if (loss() != null) {
            return null;
        }
        // Between two beats would be too late to tell of a loss that can be foreseen.
        lookAtEnd(now, out);
        boolean isDoubtNew = lease.isInDoubt() && suspensions().putInDoubt(renewalSentNanos);
        boolean due = isDoubtNew || ((renewed || lease.isInDoubt()) && now - renewAtNanos >= 0);
        return due && !isUnderWay(now) && !isOver(now) ? renewal(now) : null;
    }

    private Suspensions suspensions() {
        return settings.suspensions();
    }

    private boolean isUnderWay(long now) {
        boolean mayEndDoubt = renewing && !suspensions().putInDoubt(renewalSentNanos);
        return mayEndDoubt && now - renewalSentNanos < Math.min(settings.silenceNanos(), patienceNanos(now));
    }

    // The less is left, the sooner it is sent again: a short lease would be over before a command is taken to be lost.
    private long patienceNanos(long now) {
        long left = lease.isInDoubt() ? 0 : lease.validUntilNanos() - now;
        return Math.max(Math.min(settings.retryNanos(), REPEAT_NANOS), left / 3);
    }

    /** Is renewed at once, for the sake of what the reply tells about waiters. */
    void renewNow(long now, Effects<LockEffect> out) {
        if ((renewed || lease.isInDoubt()) && !isUnderWay(now)) {
            out.add(renewal(now));
        }
    }

    private Renew renewal(long now) {
        renewing = true;
        renewalSentNanos = now;
        if (lease.isInDoubt()) {
            // Should there be no answer, it is repeated.
            renewAtNanos = now;
        }
        return new Renew(sequence, renewed ? leaseMillis : 0, now);
    }

    /**
     * Takes the answer to a renewal, or its failure. Returns whether Redis still knows the owner, as far as is known.
     */
    boolean renewed(
            long sentNanos,
            LockScripts.@Nullable Renewal renewal,
            @Nullable Throwable failure,
            long now,
            Effects<LockEffect> out) {
        boolean wasInDoubt = lease.isInDoubt();
        boolean isLatest = renewalSentNanos == sentNanos;
        renewing &= !isLatest;
        if (renewal == null && isLatest) {
            renewAtNanos = sentNanos + Math.min(settings.retryNanos(), patienceNanos(now));
        } else if (renewal != null && renewal.owned() && !isOver(now)) {
            // What was over in between may have had other owners, even if Redis knows this one again.
            renewAtNanos = sentNanos + settings.renewalNanos();
            lease.extendTo(sentNanos, Lease.validUntil(sentNanos, renewal.ttlMillis()));
        }
        if (isLatest || !lease.isInDoubt()) {
            out.add(Plain.CONFIRM);
        }
        if (wasInDoubt && !lease.isInDoubt()) {
            out.add(Plain.WAKE);
        }
        if (renewal != null && !renewal.owned()) {
            return false;
        }
        if (renewal != null) {
            hear(renewal, sentNanos, now, out);
        }
        out.add(new Report(lease.validUntilNanos() - now, failure));
        return true;
    }

    /** A fixed lease, which isn't over, was extended. */
    void extended(long sentNanos, long ttlMillis, long now, Effects<LockEffect> out) {
        extendedMillis = Math.max(extendedMillis, ttlMillis);
        lease.extendTo(sentNanos, Lease.validUntil(sentNanos, ttlMillis));
        lookAtEnd(now, out);
    }

    private void hear(LockScripts.Renewal renewal, long sentNanos, long now, Effects<LockEffect> out) {
        if (renewal.tellsOfOthers()) {
            foreignDemand = renewal.foreignWaiters();
        }
        if (renewal.waiters() || renewal.foreignWaiters()) {
            demanded(now, out);
        } else if (renewal.tellsOfOthers()) {
            undemanded(sentNanos, out);
        }
    }

    // ---- loss

    /** Marks it lost, which it wasn't before. Returns the loss. */
    LeaseLostException lose(String name, String reason, long now) {
        LeaseLostException loss = new LeaseLostException(name, tokens.current(), reason);
        freeNanos = lease.freeNanos(now, Math.max(leaseMillis, extendedMillis));
        lease.lose(loss);
        return loss;
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
