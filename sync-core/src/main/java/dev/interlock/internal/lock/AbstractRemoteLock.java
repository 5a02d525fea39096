package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.Stake;
import dev.interlock.internal.Stake.Hold;
import dev.interlock.internal.Stake.Wait;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.internal.session.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the remote halves have in common: the leader, how threads enter on a tenure and check it, what listeners hear
 * of, and the cleanup behind threads that leave.
 */
public abstract class AbstractRemoteLock<S extends Session, T extends Tenure> implements RemoteLock, Participant {
    private static final Logger log = LoggerFactory.getLogger(AbstractRemoteLock.class);
    private static final RareLog UNANSWERED = new RareLog();

    /** What there is to tell if nothing has happened. */
    protected static final Runnable NOTHING = () -> {};

    protected final S session;
    protected final String name;
    protected final Halves<?> local;

    /** The wait of the leader: the thread that has the local half and waits for the remote half. */
    protected volatile @Nullable RemoteWait leader;

    /** Whether the leader only comes back from a wait for a condition. */
    private volatile boolean returning;

    /** Made for the first hold of which a listener is told. Used by the thread that is inside, or closes the tenure. */
    private @Nullable HoldTally tally;

    private volatile Sightings sightings = Sightings.NOTHING;

    /** Made for the first of them: most locks have none. */
    private volatile List<Consumer<LeaseLostException>> lossListeners = List.of();

    /** Creates the remote half of the lock of this name. */
    protected AbstractRemoteLock(S session, String name, Halves<?> local) {
        this.session = session;
        this.name = name;
        this.local = local;
    }

    /** Returns what the session was configured with. */
    protected final Settings settings() {
        return session.settings();
    }

    @Override
    public final String kind() {
        return local instanceof LocalReadWriteLock ? "write lock" : kindOfLock();
    }

    /** Returns what kind of lock it is, for people, unless it is a read-write lock. */
    protected abstract String kindOfLock();

    /** Returns the tenure of this session, if it has one. */
    protected abstract @Nullable T tenure();

    /** Marks it lost, and tells the lock the first time. Returns the loss. */
    protected abstract LeaseLostException lose(T current, String reason);

    /** Returns whether this session has what no thread wants, as long as none has the local half. */
    protected boolean hasInterest() {
        return tenure() != null && leader == null;
    }

    /** Gives up what {@link #isUnwanted} speaks of, if that is still so when no thread can begin to wait. */
    protected abstract void relinquish();

    @Override
    public final boolean enterAtOnce() {
        // After the thread has taken the local half, and so is seen by one that closes the session.
        T current = session.isClosing() ? null : tenure();
        // In this order: a later tenure is that of threads with the half which is current now.
        return current != null && local.loss() == null && enterOn(current);
    }

    /** Enters on the tenure that the session has, if that is usable. */
    protected abstract boolean enterOn(T current);

    /** Notes when a thread enters: the reading that decides whether it does, as there are millions a second. */
    protected final long entering(long now) {
        if (isListenedTo()) {
            HoldTally known = tally == null ? new HoldTally(session, name) : tally;
            tally = known;
            known.begin(now);
        }
        return now;
    }

    @Override
    public final void endHold(long now) {
        if (tally != null) {
            tally.end(now);
        }
    }

    /** Returns whether anybody wants to hear of holds. */
    protected final boolean isListenedTo() {
        return settings().listener() != SyncListener.NONE;
    }

    /**
     * Returns the tenure that is entered, even if it is lost.
     *
     * @throws LeaseLostException if it is lost, and other threads of this session may have entered since
     */
    protected final T owned() {
        // In this order: a later tenure is another thread's.
        T current = tenure();
        local.throwIfLost();
        if (current == null) {
            throw new IllegalStateException("no tenure of " + Names.quoted(name));
        }
        return current;
    }

    /** Returns the tenure that is entered, unless it is lost. If it is in doubt, Redis is asked. */
    public final T valid() {
        long now = settings().suspensions().look();
        T current = owned();
        if (!current.isUsable(now)) {
            if (!current.isOver(now)) {
                session.await(confirm(current));
                now = session.now();
            }
            if (current.isOver(now)) {
                throw new LeaseLostException(lose(current, "its lease is over"));
            } else if (!current.isUsable(now)) {
                throw new RedisUnavailableException(
                        "Redis has not answered whether " + Names.quoted(name)
                                + " is still locked by this thread, since the machine was suspended or its clock set",
                        session.outage().cause());
            }
        }
        return current;
    }

    /** Asks Redis whether the session still owns the name. The result completes when that is known, or can't be. */
    protected abstract CompletableFuture<?> confirm(T current);

    @Override
    public final void assertValid() {
        valid();
    }

    /** Returns whether threads of this session want the local half, or are about to. */
    protected boolean isWanted() {
        return local.isWanted();
    }

    @Override
    public void cleanUp() {
        if (isUnwanted()) {
            relinquish();
        }
    }

    /**
     * Returns whether this session has something that no thread has or wants. A thread that has the local half sees to
     * what there is when it leaves; so the last one does.
     */
    protected final boolean isUnwanted() {
        // In this order, since a thread queues before it has the local half.
        return hasInterest() && !isWanted() && !local.isHeld();
    }

    /** Closes a tenure unless a thread is inside, or may be. The caller has the mutex. */
    protected final boolean tryClose(T current) {
        if (current.isAbandoned()) {
            return current.reliedOnNanos(session.now()) == 0;
        }
        current.close();
        boolean isIdle = !local.isHeld();
        if (!isIdle) {
            current.reopen();
        }
        return isIdle;
    }

    /** Pauses the current thread before it looks again at what another thread of this session does. */
    public final void pause(Object blocker, long nanos) {
        RemoteWait.pause(session, blocker, nanos);
    }

    /** The state has changed: the leader looks at it, or what nobody waits for is given back. */
    protected final void wake() {
        RemoteWait waiting = leader;
        if (waiting != null) {
            waiting.wake();
        } else if (hasInterest()) {
            session.execute(this::cleanUp);
        }
    }

    /** Returns whether something has changed that the leader has not looked at. */
    public final boolean hasNews() {
        RemoteWait waiting = leader;
        return waiting != null && waiting.isWoken();
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final String sessionId() {
        return session.id();
    }

    @Override
    public final Listeners listeners() {
        return settings().listeners();
    }

    @Override
    public final long knownToken() {
        T current = tenure();
        return current == null ? 0 : current.token();
    }

    @Override
    public final long now() {
        return session.now();
    }

    @Override
    public final void ensureAcquiring() {
        session.ensureAcquiring();
    }

    @Override
    public final void beginAttempt() {
        if (session.isClosing() && local.holds() == 0) {
            session.ensureAcquiring();
        }
    }

    /** Returns whether threads are inside. */
    private boolean isInUse() {
        return isTaken() || (local instanceof LocalReadWriteLock shared && shared.isShared());
    }

    /**
     * Returns whether threads rely on what this session owns, or did when that was lost: are inside, or may have looked
     * whether they may be.
     */
    public final boolean isRelied() {
        T current = tenure();
        return isTaken() || (local.isHeld() && leader == null) || (current != null && current.isAbandoned());
    }

    private boolean isTaken() {
        T current = tenure();
        return current != null && current.isTaken();
    }

    @Override
    public boolean isWaiting() {
        return !isTaken();
    }

    /** Says whether the thread that has the local half only comes back from a wait for a condition. */
    public final void returns(boolean isReturning) {
        returning = isReturning;
    }

    /** Begins the wait of the current thread for this lock. */
    protected final RemoteWait newWait(
            boolean interruptible, long waitNanos, LongFunction<RedisUnavailableException> unavailable) {
        RemoteWait wait = new RemoteWait(session, interruptible, waitNanos, unavailable);
        return returning ? wait : wait.acquiring();
    }

    @Override
    public final @Nullable String retire() {
        RemoteWait waiting = leader;
        if (waiting != null) {
            waiting.wake();
        }
        cleanUp();
        return held();
    }

    @Override
    public final @Nullable String held() {
        T current = tenure();
        // A thread takes the local half before it looks whether the session is about to be closed.
        boolean isHeld =
                current != null && !current.isOver(session.now()) && local.isHeld() && (leader == null || returning);
        return isHeld ? Names.quoted(name) : null;
    }

    @Override
    public final synchronized Runnable onLost(Consumer<? super LeaseLostException> lossListener) {
        List<Consumer<LeaseLostException>> all = lossListeners.isEmpty() ? new CopyOnWriteArrayList<>() : lossListeners;
        lossListeners = all;
        Consumer<LeaseLostException> told = session.aside(lossListener);
        all.add(told);
        return () -> all.remove(told);
    }

    /** Tells listeners of a loss. */
    protected final void reportLoss(LeaseLostException loss) {
        session.reportLoss(loss, lossListeners);
    }

    /** A tenure is lost: if a thread is inside, listeners are told, and other threads may go on without it. */
    protected final void lostInside(LeaseLostException loss) {
        reportLoss(loss);
        abandonLost();
    }

    /**
     * Has threads that are inside a lost tenure keep no others of this session out, unless it is set to wait for those
     * that are alive.
     */
    protected final void abandonLost() {
        Thread owner = local.owner();
        if (!settings().waitsForLostHolders() || (owner != null && !owner.isAlive())) {
            abandon();
        }
    }

    /** Has threads that are inside a lost tenure keep no others of this session out. */
    protected final void abandon() {
        T current = tenure();
        LeaseLostException loss = current == null ? null : current.loss();
        if (current != null && loss != null && !current.isAbandoned()) {
            local.retire(loss, () -> {
                boolean isInside = tenure() == current && !current.isAbandoned() && isRelied();
                if (isInside) {
                    current.abandon();
                }
                return isInside;
            });
            wake();
        }
    }

    /**
     * Waits until threads that have lost a tenure can't rely on its lease any more. Returns false if the caller's wait
     * is over before.
     */
    protected final boolean outlastsLost(RemoteWait wait) throws InterruptedException {
        T lost = tenure();
        if (lost == null) {
            return true;
        }
        long left = lost.reliedOnNanos(session.now());
        if (left == 0 || wait.isOnce()) {
            return left == 0;
        }
        wait.until(() -> false, this, Math.min(left, wait.callersLeftNanos()));
        return lost.reliedOnNanos(session.now()) == 0;
    }

    /** Tells the listener that a thread was refused because the owner of the name was silent. */
    public final void unanswered(long waitedNanos) {
        session.reports().execute(() -> {
            UNANSWERED.say(
                    name,
                    often -> log.info(
                            "tryLock() of {} was refused because the session that owns it was silent for {} ms{}",
                            Names.quoted(name),
                            TimeUnit.NANOSECONDS.toMillis(waitedNanos),
                            often));
            settings().listener().unanswered(name, waitedNanos);
        });
    }

    /** Tells the listener that the tenure goes on for another thread. */
    protected final void reportHandedOff() {
        SyncListener listener = settings().listeners().ofAcquisitions();
        if (listener != SyncListener.NONE) {
            session.tell(() -> listener.handedOff(name));
        }
    }

    /** Returns what tells the listener that the tenure ends. The caller has taken it, or has closed it. */
    protected final Runnable released(long tenureNanos) {
        if (!isListenedTo()) {
            return NOTHING;
        }
        Runnable held = tally == null ? NOTHING : tally.drain();
        return () -> {
            held.run();
            session.tell(() -> settings().listeners().ofAcquisitions().released(name, tenureNanos));
        };
    }

    // ---- for operators

    /** Notes which threads are inside and queued, so that it is known for how long, within a beat of the pulse. */
    protected final void see() {
        sightings = sightings.look(front(), local, session.now());
    }

    private Sightings front() {
        RemoteWait waiting = leader;
        T current = tenure();
        if (waiting != null) {
            return Sightings.waiting(waiting.begunNanos());
        }
        return current == null || !isInside() ? Sightings.NOTHING : Sightings.inside(current.token(), session.now());
    }

    @Override
    public final boolean isInside() {
        return isInUse() && leader == null;
    }

    /**
     * Returns what the session has in the name, or null if that isn't wanted.
     *
     * @param isLeaving whether a release is under way
     * @param conditions threads that wait for conditions
     * @param place tells the sequence of a thread's ticket, or 0
     */
    protected final @Nullable Stake stake(
            Predicate<String> wanted,
            boolean isLeaving,
            Supplier<List<Wait>> conditions,
            ToLongFunction<Thread> place) {
        if (!wanted.test(name)) {
            return null;
        }
        List<Wait> waits = new ArrayList<>();
        RemoteWait waiting = leader;
        if (waiting != null) {
            Thread thread = waiting.thread();
            waits.add(Wait.of(thread, "", place.applyAsLong(thread), millisSince(waiting.begunNanos())));
        }
        Sightings front = front();
        for (Thread thread : local.queued()) {
            long age = sightings.millisBehind(front, thread, session.now());
            waits.add(Wait.of(thread, "", place.applyAsLong(thread), age));
        }
        waits.addAll(conditions.get());
        String shown = local instanceof LocalReadWriteLock ? "read-write lock" : kind();
        return new Stake(name, shown, holds(isLeaving), waits);
    }

    private List<Hold> holds(boolean isLeaving) {
        T current = tenure();
        if (current == null) {
            return isLeaving ? List.of(Hold.nobodyInside("LEAVING")) : List.of();
        }
        if (!isInside()) {
            return List.of(Hold.nobodyInside("KEPT"));
        }
        Thread owner = local.owner();
        long token = current.token();
        long age = sightings.millisInside(token, session.now());
        return List.of(
                owner == null && local instanceof LocalReadWriteLock shared
                        ? Hold.shared(shared.shares(), token, age)
                        : Hold.inside(owner, token, age));
    }

    private long millisSince(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(session.now() - nanos);
    }

    /** Returns for how long an answer is waited for. */
    public final long commandTimeoutNanos() {
        return TimeUnit.MILLISECONDS.toNanos(settings().commandTimeoutMillis());
    }

    /** Returns whether a thread that would wait for ever has waited out the outage for as long as it should. */
    protected final boolean isOutageTooLong() {
        return session.outage().isTooLong();
    }
}
