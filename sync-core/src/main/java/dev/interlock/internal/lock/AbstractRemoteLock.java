package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.internal.Session;
import dev.interlock.internal.Settings;
import dev.interlock.internal.Stake;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the remote halves have in common: the frontman, whom listeners hear of, and who clears up behind whoever leaves. */
abstract class AbstractRemoteLock implements RemoteLock, Stake {
    private static final Logger log = LoggerFactory.getLogger(AbstractRemoteLock.class);

    /** How long a failure of Redis says something about now. */
    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(2);

    final Session session;
    final Settings settings;
    final String name;
    final LocalHalf local;
    final SyncListener listener;
    final boolean listening;

    /** The thread that has the local half and waits for the remote half. */
    volatile @Nullable Thread frontman;

    /** Whether the local half is taken only to clear up. */
    private volatile boolean tidying;

    /** Whether the state has changed since the frontman reset this. An unpark alone may end another wait than is meant. */
    volatile boolean changed;

    private final List<Consumer<? super LeaseLostException>> lossListeners = new CopyOnWriteArrayList<>();

    AbstractRemoteLock(Session session, String name, LocalHalf local) {
        this.session = session;
        this.settings = session.settings();
        this.name = name;
        this.local = local;
        this.listener = settings.listener();
        this.listening = listener != SyncListener.NONE;
    }

    /** Returns whether this session owns the name or has asked for it. */
    abstract boolean hasStake();

    /** Gives up what {@link #hasStake} speaks of. The caller has the local half. */
    abstract void relinquish();

    /** Returns whether threads of this session want the local half, or are about to. */
    boolean isWanted() {
        return local.isWanted();
    }

    @Override
    public void tidy() {
        while (hasStake() && !isWanted() && local.tryLock()) {
            tidying = true;
            try {
                if (!isWanted()) {
                    relinquish();
                }
            } finally {
                tidying = false;
                local.unlock();
            }
        }
    }

    /** The state has changed: the frontman looks at it, or what nobody waits for is given back. */
    final void wake() {
        changed = true;
        Thread waiting = frontman;
        if (waiting != null) {
            LockSupport.unpark(waiting);
        } else if (hasStake()) {
            session.execute(this::tidy);
        }
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final long now() {
        return session.now();
    }

    @Override
    public final long start() {
        return listening ? session.now() : 0;
    }

    @Override
    public final boolean isWaiting() {
        return frontman != null || tidying;
    }

    @Override
    public final Runnable onLost(Consumer<? super LeaseLostException> lossListener) {
        lossListeners.add(lossListener);
        return () -> lossListeners.remove(lossListener);
    }

    final void reportLoss(LeaseLostException loss) {
        session.reportLoss(loss, lossListeners);
    }

    final void reportAcquired(long waitedNanos, boolean alreadyOwned) {
        if (listening) {
            notifyListener(() -> listener.acquired(name, waitedNanos, alreadyOwned));
        }
    }

    final void reportHandedOff() {
        if (listening) {
            notifyListener(() -> listener.handedOff(name));
        }
    }

    final void reportReleased(long tenureNanos) {
        if (listening) {
            notifyListener(() -> listener.released(name, tenureNanos));
        }
    }

    // On the thread that locks or unlocks: what a listener throws must not cost it its lock.
    private static void notifyListener(Runnable event) {
        try {
            event.run();
        } catch (RuntimeException | Error e) {
            log.warn("A listener failed", e);
        }
    }

    final long commandTimeoutNanos() {
        return TimeUnit.MILLISECONDS.toNanos(settings.commandTimeoutMillis());
    }

    /** Returns whether a thread that would wait for ever has waited out the outage for as long as it should. */
    final boolean isOutageTooLong() {
        return session.outage().hasLasted(settings.redisTimeoutNanos(), RECENT_NANOS);
    }
}
