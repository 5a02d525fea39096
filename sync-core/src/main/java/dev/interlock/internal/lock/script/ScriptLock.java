package dev.interlock.internal.lock.script;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.Stake;
import dev.interlock.internal.lock.AbstractRemoteLock;
import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.lock.script.LockState.Advance;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.internal.session.Resource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of a lock over our own scripts: sessions stand in a queue in Redis and take turns.
 *
 * <p>The {@link LockMonitor} handles events; this is what threads do. The thread that has the local half and finds no
 * usable tenure is the <em>leader</em>: it has a ticket opened, and waits until that has become a tenure. It may leave
 * at any time: its ticket stays for the next local thread, or is cancelled by {@link #cleanUp} if there is none.
 */
public class ScriptLock extends AbstractRemoteLock<RedisSession, LockTenure> implements LockMonitor.Owner {
    /** In place of a time for which a name is kept: as long as that pays, and the session is set to do so. */
    public static final long ADAPTIVE = -1;

    /** In place of such a time: it isn't kept, and who gives it up waits until Redis has confirmed that. */
    public static final long CONFIRMED = -2;

    final LockView view;
    final LockMonitor monitor;
    private final boolean isConfirmed;

    /**
     * Creates the remote half of the lock of this name.
     *
     * @param fair whether every thread has its own place in the queue
     * @param retainMillis for how long the name is kept although no thread of this session wants it, 0 for not at all,
     *     {@link #ADAPTIVE} or {@link #CONFIRMED}
     */
    public ScriptLock(RedisSession session, String name, Halves<?> local, boolean fair, long retainMillis) {
        this(session, name, session.key(name), local, fair, false, retainMillis);
    }

    ScriptLock(
            RedisSession session,
            String name,
            String key,
            Halves<?> local,
            boolean fair,
            boolean endsTurns,
            long retainMillis) {
        super(session, name, local);
        // What a fair lock gives up are also tickets, which would have the tryLock() of others refused.
        this.isConfirmed = fair || retainMillis == CONFIRMED || settings().confirmedUnlock();
        boolean adapts = settings().adaptiveRetention() && retainMillis != 0 && retainMillis != CONFIRMED;
        KeepPolicy keep = new KeepPolicy(settings().handoffSliceNanos(), endsTurns, Math.max(0, retainMillis), adapts);
        this.view = new LockView(fair, keep, settings().commandTimeoutMillis(), session.now());
        this.monitor = new LockMonitor(session, key, view, this);
    }

    /** Prepares a session for its first lock, while its threads do something else. */
    public static void prepare(RedisSession session) {
        session.execute(() -> LockScripts.load(session.runner()));
    }

    /** Takes a message about a name in which its session has no interest any more. */
    public static void receiveUnclaimed(RedisSession session, Mail mail) {
        ReliableRelease.receiveUnclaimed(session, mail);
    }

    @Override
    public void announce(long leaseMillis) {
        session.ensureAcquiring();
        monitor.run((state, now) -> state.ownership.announce(Thread.currentThread(), leaseMillis, now));
        session.ensureAcquiring();
    }

    @Override
    protected String kindOfLock() {
        return view.fair ? "fair lock" : "lock";
    }

    @Override
    protected boolean enterOn(LockTenure current) {
        if (!current.renewed) {
            return false;
        }
        if (view.fair) {
            return monitor.call((state, now) -> state.enterAtOnce(current, Thread.currentThread(), entering(now)));
        }
        long now = entering(session.now());
        boolean enters = current.take(now);
        if (enters) {
            view.keep.entered(now);
        }
        return enters;
    }

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis) throws InterruptedException {
        return enter(false, interruptible, waitNanos, leaseMillis);
    }

    /** Gets the session a tenure and enters on it; if it only reads, beside others. */
    final boolean enter(boolean reads, boolean interruptible, long waitNanos, long leaseMillis)
            throws InterruptedException {
        RemoteWait wait = newWait(interruptible, waitNanos, this::unavailable);
        boolean entered = false;
        leader = wait;
        try {
            entered = outlastsLost(wait) && await(wait, reads, leaseMillis);
            if (entered) {
                entering(session.now());
                view.keep.entered(wait.begunNanos());
            }
            return entered;
        } finally {
            leader = null;
            if (!entered && wait.isOnce()) {
                monitor.run(LockState::endOnce);
            }
            wait.close();
        }
    }

    private boolean await(RemoteWait wait, boolean reads, long leaseMillis) throws InterruptedException {
        Attempt attempt = new Attempt(Thread.currentThread(), leaseMillis, wait.isOnce(), reads, wait.begunNanos());
        for (boolean first = true; ; first = false) {
            // Both before the step, which sees what an answer has brought.
            wait.look();
            boolean isQueued = first
                    && view.fair
                    && wait.isTimed()
                    && monitor.call((state, now) -> state.tickets.isQueued(attempt.thread()));
            if (isQueued || view.hasHeardSince(wait.begunNanos())) {
                wait.heard();
            }
            // A thread needs no answer if its ticket, announced before, is known to stand in the queue; one that waits
            // for ever, if it is announced.
            boolean asks = first && !isQueued && (wait.isTimed() || !view.fair);
            wait.ensureOpen();
            Advance advance = monitor.call((state, now) -> state.advance(attempt, asks, now));
            if (advance == Advance.ENTERED) {
                return true;
            }
            wait.check();
            if (advance == Advance.REFUSED || !wait.goesOn()) {
                return false;
            }
            long pause = Math.min(wait.leftNanos(), monitor.call(LockState::untilDue));
            if (!wait.isWoken() && !(monitor.expectsToBeAlone() && wait.spin())) {
                wait.sleep(this, pause);
            }
        }
    }

    RedisUnavailableException unavailable(long waitedNanos) {
        long millis = TimeUnit.NANOSECONDS.toMillis(waitedNanos);
        return new RedisUnavailableException(
                "Redis has not answered for lock " + Names.quoted(name) + " within " + millis + " ms",
                session.outage().cause());
    }

    @Override
    public @Nullable Departure leave(long now) {
        LockTenure current = owned();
        if (current.isOver(now)) {
            LeaseLostException loss = lose(current, "its lease is over");
            monitor.giveUp(current).insist();
            return () -> {
                throw new LeaseLostException(loss);
            };
        }
        boolean isInDoubt = current.isInDoubt(now);
        if (isKept(current, false, now)) {
            return null;
        }
        ReliableRelease release = monitor.giveUp(current);
        // While plain RLock clients are about, which can't ask whether a release is under way, it is waited for. In
        // doubt, its answer tells whether the lock was lost.
        boolean awaits = isConfirmed
                || isInDoubt
                || release.hasOperations()
                || view.hasNeighbours(now)
                || session.isBacklogged();
        if (!awaits) {
            monitor.hold(current, release);
            monitor.insistFor(current, release);
            return null;
        }
        return () -> {
            if (monitor.scripts.isQuiet()) {
                session.spinner().awaits(release.confirmed());
            }
            Released released = session.await(release.confirmed());
            if (released == Released.NOTHING) {
                throw new LeaseLostException(monitor.lose(current, LockState.OWNER_CHANGED, true));
            }
            if (released == null) {
                release.repeat();
            }
        };
    }

    /**
     * A thread leaves: returns whether the name is kept for the next one, which may take it from now on.
     *
     * @param awaits whether it waits for a condition
     */
    final boolean isKept(LockTenure current, boolean awaits, long now) {
        // The next thread in line may enter, or is likely to within a round trip.
        boolean isServed = isWanted()
                && current.isUsable(now)
                && !view.keep.isTurnOver(current, now)
                && (view.serves(current) || monitor.<Boolean>call((state, at) -> state.isAboutToServe(current, at)));
        if (isServed) {
            reportHandedOff();
        } else if (!current.isUsable(now)
                || !mayKeep(current)
                || !view.keep.keeps(current, !awaits && !hasNeighbours(current, now), now)) {
            ended(current, now).run();
            return false;
        }
        if (!isServed) {
            retain(current);
        }
        monitor.flush(current);
        if (current.looksForDemand(now, view.keep.turnNanos())) {
            monitor.renewNow(current);
        }
        current.free();
        return true;
    }

    /** Returns whether a name may be kept that no thread wants. */
    final boolean mayKeep(LockTenure current) {
        return current.renewed && !view.isAnySignalDue && !session.isClosing();
    }

    private boolean hasNeighbours(LockTenure current, long now) {
        return current.foreignDemand || view.hasNeighbours(now);
    }

    /** Has a name kept until the time for that is over. */
    final void retain(LockTenure current) {
        if (!current.retained) {
            monitor.run((state, now) -> state.retain(current));
        }
    }

    private Runnable ended(LockTenure current, long now) {
        if (current.foreignDemand) {
            view.neighboursSeen(now);
        }
        return released(now - current.startNanos);
    }

    @Override
    public void cleanUp() {
        if (view.fair) {
            monitor.run((state, now) -> state.depart(Thread.currentThread(), now));
        }
        cleanUpExceptPlaces();
    }

    /** Does what {@link #cleanUp} does, but leaves to a thread of a fair lock its place. */
    void cleanUpExceptPlaces() {
        super.cleanUp();
    }

    @Override
    protected boolean isWanted() {
        return super.isWanted() || view.isAnyArriving();
    }

    // A fair lock's tickets are not among it: each belongs to a thread, which sees to it.
    @Override
    protected boolean hasInterest() {
        LockTenure current = view.tenure;
        if (current == null) {
            return !view.fair && view.ticket != null;
        }
        // While nobody else wants the name, LockState.due ends its time, so that unlock() needn't read the clock here.
        boolean isKept = current.retained
                && (!current.demand || view.keep.isKept(current, session.now()))
                && current.loss() == null
                && !session.isClosing();
        return view.fair ? !view.serves(current) : !isKept;
    }

    @Override
    protected @Nullable LockTenure tenure() {
        return view.tenure;
    }

    @Override
    protected void relinquish() {
        giveUpIf(this::isUnwanted, false);
    }

    /**
     * Gives up what this session has, if that is so under the mutex: from then on threads open tickets of their own.
     *
     * @param isAsked whether another session has asked whether a thread is inside
     */
    private void giveUpIf(BooleanSupplier isIdle, boolean isAsked) {
        Runnable report = monitor.call((state, now) -> {
            LockTenure current = view.tenure;
            if (!isIdle.getAsBoolean() || (current != null && !tryClose(current))) {
                return NOTHING;
            }
            Ticket request = view.ticket;
            if (request != null && !view.fair) {
                state.ownership.withdraw(request, now);
            }
            return current == null ? NOTHING : giveUp(current, isAsked, now);
        });
        report.run();
    }

    /** Gives up a tenure on which no thread is inside. Returns what tells the listener. */
    private Runnable giveUp(LockTenure current, boolean isAsked, long now) {
        if (isAsked || current.demand) {
            view.keep.keptInVain();
        }
        Runnable report = ended(current, now);
        ReliableRelease release = monitor.giveUp(current);
        monitor.hold(current, release);
        release.insist();
        return report;
    }

    /** Gives up a tenure, unless threads rely on it that have lost it. The current thread has the local half. */
    final void giveUp(LockTenure current) {
        Runnable report = monitor.call((state, now) ->
                view.tenure == current && current.reliedOnNanos(now) == 0 ? giveUp(current, false, now) : NOTHING);
        report.run();
    }

    @Override
    public long fencingToken() {
        return valid().tokens.current();
    }

    @Override
    protected LeaseLostException lose(LockTenure current, String reason) {
        LeaseLostException known = current.loss();
        return known == null ? monitor.lose(current, reason) : known;
    }

    @Override
    protected CompletableFuture<?> confirm(LockTenure current) {
        return monitor.confirm(current);
    }

    @Override
    public ScriptConditions conditions() {
        return new ScriptConditions(session, this, monitor, local);
    }

    @Override
    public boolean isLocked() {
        session.ensureOpen();
        return session.answer(monitor.scripts.inspect(), "for lock " + Names.quoted(name));
    }

    // ---- what the monitor tells

    @Override
    public void changed() {
        wake();
    }

    @Override
    public void demanded() {
        // A retained name is given up, and a leader that counts on being next looks again.
        LockTenure current = view.tenure;
        if (leader != null || (current != null && current.retained)) {
            wake();
        }
    }

    @Override
    public void asked(Mail.IdleQuestion question) {
        session.execute(() -> answer(question));
    }

    // A name that is idle is given up, whatever it is kept for. A name in use is not, and its turn isn't shortened.
    private void answer(Mail.IdleQuestion question) {
        LockTenure current = view.tenure;
        if (current == null || current.sequence != question.sequence()) {
            answerWithoutTenure(question);
            return;
        }
        giveUpIf(() -> view.tenure == current && !isWanted(), true);
        if (view.tenure == current) {
            monitor.scripts.answer(question, true);
        } else {
            answer(question);
        }
    }

    // The session is asked about a ticket, granted by now or not, with which a thread waits or nobody does any more; or
    // about what it has given up, or doesn't know of.
    private void answerWithoutTenure(Mail.IdleQuestion question) {
        Resource.Query<LockState, Boolean> isTicket = (state, now) -> state.tickets.of(question.sequence()) != null;
        if (monitor.call(isTicket)) {
            cleanUp();
        }
        if (monitor.call(isTicket)) {
            monitor.scripts.answer(question, true);
        } else {
            monitor.run((state, now) -> state.ownership.ownedAnyway(question.sequence(), 0, now));
            ReliableRelease.answerOnceConfirmed(session, monitor.scripts, question);
        }
    }

    @Override
    public void lost(LeaseLostException loss) {
        lostInside(loss);
    }

    // ---- what the session tells

    @Override
    public @Nullable Renewal keep(long nowNanos) {
        if (!local.isHeld()) {
            cleanUp();
        }
        LockTenure current = view.tenure;
        if (current != null && current.loss() != null) {
            abandonLost();
        }
        return current == null || !current.isToBeKept(nowNanos) ? null : monitor.keep(current);
    }

    @Override
    public boolean isQueued() {
        return view.ticket != null;
    }

    @Override
    public void pulse() {
        see();
        LockTenure current = view.tenure;
        if (current != null && current.retained && !local.isHeld()) {
            monitor.renewNow(current);
        }
        monitor.pulse();
    }

    @Override
    public void receive(Mail mail) {
        monitor.receive(mail);
    }

    @Override
    public @Nullable Stake stake(Predicate<String> wanted) {
        return stake(wanted, view.isReleasing(session.now()), conditions()::waiting, conditions()::placeOf);
    }

    @Override
    public CompletableFuture<?> close() {
        return monitor.close();
    }

    @Override
    public String toString() {
        LockTenure current = view.tenure;
        Ticket request = view.ticket;
        if (current != null) {
            return (current.isOver(session.now()) ? "lost tenure " : "tenure ") + current.sequence + " of "
                    + session.id() + (current.demand ? ", wanted by others" : "");
        }
        return (request == null ? "no tenure of " : "ticket " + request.sequence + " of ") + session.id();
    }
}
