package dev.interlock.internal.lock;

import static java.util.Objects.requireNonNull;

import com.google.common.primitives.ImmutableLongArray;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Mailbox.Message;
import dev.interlock.internal.Session;
import dev.interlock.internal.lock.Claim.Advance;
import dev.interlock.internal.lock.LockScripts.Operations;
import dev.interlock.internal.lock.LockScripts.Released;
import dev.interlock.internal.lock.LockScripts.Signalled;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of a lock over our own scripts: sessions stand in a queue in Redis and take turns.
 *
 * <p>The session's {@link Claim} to the name is what events change; this is what threads do about it. The thread that has
 * the local half and finds no usable tenure is the <em>frontman</em>: it has the claim open a ticket, and parks until that
 * has become a tenure. It may leave at any time, because it keeps no state of its own: its ticket stays for the next local
 * thread, or is cancelled by {@link #tidy} if there is none.
 */
public final class QueueLock extends AbstractRemoteLock implements Claim.Owner, RemoteLock.Conditions {
    /** How often a session that keeps a busy name looks for waiters that its mailbox has not told it of. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The least time for the first answer, however short the wait is. */
    private static final long FIRST_ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** How often to look whether a thread has queued that is about to. */
    private static final long LINING_UP_NANOS = 10_000;

    /** A thread that has not queued after so long may have met with an accident. */
    private static final long MAX_LINING_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final boolean fair;
    private final long retainMillis;
    private final Claim claim;
    private final Waiters waiters;

    /** Why the thread that has the local half has it without the remote half. Guarded by the local half. */
    private volatile @Nullable LeaseLostException forsaken;

    /**
     * Creates the remote half of the lock of this name.
     *
     * @param fair whether every thread has its own place in the queue
     * @param retainMillis for how long the name is kept although no thread of this session wants it, 0 for not at all
     */
    public QueueLock(Session session, String name, LocalHalf local, boolean fair, long retainMillis) {
        super(session, name, local);
        this.fair = fair;
        this.retainMillis = retainMillis;
        this.claim = new Claim(session, session.key(name), fair, this);
        this.waiters = claim.waiters();
    }

    /** Gives back what a message tells of that found nobody who wanted it: a grant, or the tickets of waiters. */
    public static void giveBack(Session session, Message message) {
        ImmutableLongArray numbers = message.numbers();
        if (message.kind() == 'g') {
            giveBack(session, message.key(), numbers.get(0), numbers.get(5), numbers.get(1) + 1);
        } else if (message.kind() == 's') {
            for (int i = 1; i + 1 < numbers.length(); i += 2) {
                giveBack(session, message.key(), numbers.get(i + 1), numbers.get(i), 0);
            }
        }
    }

    private static void giveBack(Session session, String key, long sequence, long waiter, long floor) {
        Ticket unwanted = new Ticket(session.settings().leaseMillis(), true, true, 0, session.now());
        unwanted.sequence = sequence;
        unwanted.waiter = waiter;
        Operations operations = waiter > 0 ? Operations.SIGNAL_ALL : Operations.NONE;
        new Release(session, new LockScripts(session, key), unwanted, List.of(), operations, floor, false).insist();
    }

    @Override
    public void announce(long leaseMillis) {
        claim.announce(leaseMillis);
    }

    @Override
    public boolean enterAtOnce(long start) {
        Tenure current = claim.tenure();
        if (current == null || !current.renewed) {
            return false;
        }
        long now = session.now();
        if (fair ? !claim.enterAtOnce(now) : !current.isUsable(now) || !current.drawToken()) {
            return false;
        }
        reportAcquired(now - start, true);
        return true;
    }

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis, long start)
            throws InterruptedException {
        boolean once = waitNanos == 0;
        boolean timed = waitNanos != Long.MAX_VALUE;
        long begun = session.now();
        long patience = once ? commandTimeoutNanos() : waitNanos;
        long grace = Math.max(patience, Math.min(FIRST_ANSWER_NANOS, commandTimeoutNanos()));
        boolean interrupted = false;
        boolean entered = false;
        frontman = Thread.currentThread();
        try {
            for (boolean first = true; ; first = false) {
                // Both before the step, which sees what an answer has brought.
                changed = false;
                boolean heard = claim.hasHeardSince(begun);
                // A thread that waits for ever needs no answer as long as its ticket, announced before, may be granted.
                boolean asks = first && (timed || !fair);
                Advance advance = claim.advance(leaseMillis, once, asks, begun);
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
                if (advance == Advance.REFUSED) {
                    return false;
                }
                long waited = session.now() - begun;
                long left = timed ? (heard ? patience : grace) - waited : Long.MAX_VALUE;
                if (timed && left <= 0) {
                    if (once || !heard || session.outage().isActive()) {
                        throw unavailable(waited);
                    }
                    return false;
                }
                if (!timed && isOutageTooLong()) {
                    throw unavailable(waited);
                }
                long pause = Math.min(left, claim.untilNextAdvance());
                if (!changed) {
                    LockSupport.parkNanos(this, pause);
                }
            }
        } finally {
            frontman = null;
            if (!entered) {
                withdrawUnlessQueued();
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // A request that doesn't queue is of no use to the next thread.
    private void withdrawUnlessQueued() {
        Ticket request = claim.ticket();
        if (request != null && !request.queues) {
            claim.withdraw(request);
        }
    }

    private RedisUnavailableException unavailable(long waitedNanos) {
        long millis = TimeUnit.NANOSECONDS.toMillis(waitedNanos);
        return new RedisUnavailableException(
                "Redis has not answered for lock '" + name + "' within " + millis + " ms",
                session.outage().cause());
    }

    @Override
    public @Nullable Departure leave() {
        LeaseLostException known = forsaken;
        if (known != null) {
            forsaken = null;
            return () -> {
                throw new LeaseLostException(known);
            };
        }
        Tenure current = owned();
        long now = session.now();
        if (!current.isUsable(now)) {
            LeaseLostException loss = current.lose("its lease is over");
            claim.giveUp(current).insist();
            return () -> {
                throw new LeaseLostException(loss);
            };
        }
        if (isKept(current, now)) {
            return null;
        }
        Release release = claim.giveUp(current);
        return () -> {
            Released released = session.await(release.confirmed());
            if (released == Released.NOTHING) {
                throw new LeaseLostException(current.lose("its owner in Redis had changed", true));
            }
            if (released == null) {
                release.repeat();
            }
        };
    }

    private boolean isKept(Tenure current, long now) {
        boolean turnIsOver = current.demand && now - current.startNanos >= settings.handoffSliceNanos();
        if (isWanted() && !turnIsOver && claim.mayServe(current)) {
            reportHandedOff();
        } else if (retainMillis > 0 && !current.demand && current.renewed && !waiters.isAnySignalDue()) {
            retain(current, now);
        } else {
            reportReleased(now - current.startNanos);
            return false;
        }
        if (waiters.isAnySignalDue()) {
            waiters.flush(current);
        }
        lookForDemand(current, now);
        return true;
    }

    // The mailbox may be deaf, and plain RLock clients write no letters.
    private void lookForDemand(Tenure current, long now) {
        boolean due = now - current.lookAtNanos >= 0 && now - current.startNanos >= settings.handoffSliceNanos();
        if (due && !current.demand) {
            current.lookAtNanos = now + LOOK_NANOS;
            current.renewNow();
        }
    }

    // Called with the local half, and so never twice at a time; there is one timer as long as the tenure is retained.
    private void retain(Tenure current, long now) {
        current.idleSinceNanos = now;
        if (!current.retained) {
            current.retained = true;
            session.schedule(() -> endRetention(current), retainMillis);
        }
    }

    private void endRetention(Tenure current) {
        if (claim.tenure() != current) {
            return;
        }
        long idleMillis = local.isHeld() ? 0 : TimeUnit.NANOSECONDS.toMillis(session.now() - current.idleSinceNanos);
        if (idleMillis < retainMillis) {
            session.schedule(() -> endRetention(current), retainMillis - idleMillis);
        } else {
            current.retained = false;
            tidy();
        }
    }

    @Override
    public void tidy() {
        if (fair) {
            claim.depart(Thread.currentThread());
        }
        super.tidy();
    }

    @Override
    boolean isWanted() {
        return super.isWanted() || waiters.isAnyArriving();
    }

    // A fair lock's tickets are not among it: each belongs to a thread, which sees to it.
    @Override
    boolean hasStake() {
        Tenure current = claim.tenure();
        if (current == null) {
            return !fair && claim.ticket() != null;
        }
        return fair ? !claim.serves(current) : !current.retained || current.demand || current.loss() != null;
    }

    @Override
    void relinquish() {
        Tenure current = claim.tenure();
        if (current != null) {
            reportReleased(session.now() - current.startNanos);
            claim.giveUp(current).insist();
        }
        Ticket request = claim.ticket();
        if (request != null && !fair) {
            claim.withdraw(request);
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
        Tenure current = owned();
        if (!current.isUsable(session.now())) {
            throw new LeaseLostException(current.lose("its lease is over"));
        }
        return current;
    }

    private Tenure owned() {
        Tenure current = claim.tenure();
        LeaseLostException loss = forsaken;
        if (loss != null) {
            throw new LeaseLostException(loss);
        }
        if (current == null) {
            throw new IllegalStateException("no tenure of '" + name + "'");
        }
        return current;
    }

    // ---- conditions

    @Override
    public Conditions conditions() {
        return this;
    }

    @Override
    public Waiter enlist(String condition) {
        return waiters.enlist(valid(), condition);
    }

    @Override
    public void leave(Waiter waiter) {
        Tenure current = owned();
        long now = session.now();
        if (!current.isUsable(now) || !isKept(current, now)) {
            claim.giveUp(current, waiter).insist();
        }
    }

    @Override
    public void left() {
        super.tidy();
    }

    @Override
    public Outcome sleep(Waiter waiter, boolean interruptible, boolean timed, long deadlineNanos) {
        boolean interrupted = false;
        boolean leaves = false;
        boolean byInterrupt = false;
        while (waiter.outcome == null) {
            interrupted |= Thread.interrupted();
            long left = timed ? deadlineNanos - session.now() : Long.MAX_VALUE;
            if (!leaves) {
                byInterrupt = interrupted && interruptible;
                leaves = byInterrupt || left <= 0;
                if (leaves) {
                    waiters.leave(waiter);
                }
            }
            if (isOutageTooLong() && waiters.abandon(waiter)) {
                restoreInterrupt(interrupted);
                throw unavailable(settings.redisTimeoutNanos());
            }
            if (waiter.outcome == null) {
                LockSupport.parkNanos(this, leaves ? Inquiry.POLL_NANOS : Math.min(left, Inquiry.POLL_NANOS));
                waiters.askIfDue();
            }
        }
        return outcome(waiter, byInterrupt, interrupted);
    }

    private static void restoreInterrupt(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Outcome outcome(Waiter waiter, boolean byInterrupt, boolean interrupted) {
        boolean isInterrupt = waiter.outcome == Waiter.Outcome.LEFT && byInterrupt;
        restoreInterrupt(interrupted && !isInterrupt);
        switch (requireNonNull(waiter.outcome)) {
            case LOST -> throw new LeaseLostException(name, 0, "its owner in Redis had changed");
            case CLOSED -> throw new IllegalStateException("the Interlock session is closed");
            case LEFT -> {
                return isInterrupt ? Outcome.INTERRUPTED : Outcome.TIMED_OUT;
            }
            default -> {
                return Outcome.SIGNALLED;
            }
        }
    }

    @Override
    public void lineUp(Waiter waiter) {
        Waiter ahead = waiters.linesUp(waiter);
        if (fair && ahead != null) {
            // It is at the same point, and mostly further.
            long begun = session.now();
            while (!ahead.isThrough && !local.isQueued(ahead.thread) && session.now() - begun < MAX_LINING_UP_NANOS) {
                LockSupport.parkNanos(LINING_UP_NANOS);
            }
        }
    }

    @Override
    public void enter(Waiter waiter) {
        waiters.arrived(waiter, false);
        boolean entered = false;
        try {
            boolean isRenewed = waiter.leaseMillis == RENEWED;
            entered = (isRenewed && enterAtOnce(start())) || enter(false, Long.MAX_VALUE, waiter.leaseMillis, start());
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        } finally {
            if (!entered) {
                forsaken = new LeaseLostException(name, 0, "it could not be taken back after waiting for a condition");
                waiters.arrived(waiter, true);
            }
        }
    }

    @Override
    public void signal(String condition, boolean all) {
        waiters.signal(valid(), condition, all);
    }

    @Override
    public int count(String condition) {
        Tenure current = valid();
        Signalled signalled = session.await(waiters.count(current, condition));
        if (signalled == null) {
            throw unavailable(commandTimeoutNanos());
        }
        if (!signalled.owned()) {
            throw new LeaseLostException(current.lose("its owner in Redis had changed"));
        }
        return signalled.count();
    }

    @Override
    public Collection<Thread> threads(String condition) {
        return waiters.threads(condition);
    }

    @Override
    public boolean isLocked() {
        session.ensureOpen();
        Boolean locked = session.await(claim.scripts().inspect());
        if (locked == null) {
            throw unavailable(commandTimeoutNanos());
        }
        return locked;
    }

    // ---- what the claim tells

    @Override
    public void changed() {
        wake();
    }

    @Override
    public void demanded() {
        // A retained name is given up, and a frontman who counts on being next has to think again.
        if (retainMillis > 0 || frontman != null) {
            wake();
        }
    }

    @Override
    public boolean isRelied() {
        return local.isHeld();
    }

    @Override
    public void lost(LeaseLostException loss) {
        reportLoss(loss);
    }

    // ---- what the session tells

    @Override
    public @Nullable Renewal keep(long nowNanos) {
        if (!local.isHeld()) {
            tidy();
        }
        Tenure current = claim.tenure();
        return current == null ? null : current.keep(nowNanos);
    }

    @Override
    public void pulse() {
        Tenure current = claim.tenure();
        if (current != null && current.retained && !local.isHeld()) {
            // Plain RLock clients write no letters.
            current.renewNow();
        }
        claim.pulse();
    }

    @Override
    public void receive(Message message) {
        claim.receive(message);
    }

    @Override
    public CompletableFuture<?> close() {
        return claim.close();
    }

    @Override
    public String toString() {
        Tenure current = claim.tenure();
        Ticket request = claim.ticket();
        if (current != null) {
            return (current.isUsable(session.now()) ? "tenure " : "lost tenure ") + current.sequence + " of "
                    + session.id();
        }
        return (request == null ? "no tenure of " : "ticket " + request.sequence + " of ") + session.id();
    }
}
