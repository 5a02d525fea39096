package dev.interlock.internal.lock.script;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.ReadWriteHalves;
import dev.interlock.internal.lock.RemoteReadWriteLock;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of a read-write lock: a lock whose queue also has tickets for reading only, and whose tenures may be
 * shared by sessions.
 *
 * <p>Threads of this session read on whatever tenure it has. An exclusive one serves its readers and writers alike, so
 * that these take turns without Redis; if others wait, it does so for the hand-off slice, and then becomes a shared one
 * as long as readers are inside, for the others may only want to read. A shared tenure for which others wait lets
 * nobody in who comes after them: it is a writer that they wait for, or are. What readers leave is kept for a moment,
 * since others often follow.
 */
public final class ScriptReadWriteLock extends ScriptLock implements RemoteReadWriteLock {
    /** How often a session whose readers stay looks for others that its mailbox has not told it of. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(900);

    private final ReadWriteHalves shared;

    /** Threads that were announced before they queued for the local half. */
    private final Set<Thread> announced = ConcurrentHashMap.newKeySet();

    /** The waits of readers for one that asks, or for those inside to leave, or for no other session to wait. */
    private final Queue<RemoteWait> readers = new ConcurrentLinkedQueue<>();

    /**
     * Creates the remote half of the read-write lock of this name.
     *
     * @param fair whether a turn of this session is over as soon as others wait
     */
    public ScriptReadWriteLock(RedisSession session, String name, ReadWriteHalves local, boolean fair) {
        super(session, name, LockScripts.readWriteKey(session.key(name)), local, false, fair, fair ? 0 : ADAPTIVE);
        this.shared = local;
    }

    // ---- the exclusive side

    @Override
    protected boolean enterOn(LockTenure current) {
        forget(false);
        return !current.shared && !view.keep.isTurnOver(current, session.now()) && super.enterOn(current);
    }

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis) throws InterruptedException {
        forget(false);
        LockTenure current = view.tenure;
        if (current != null && !current.shared && view.keep.isTurnOver(current, session.now())) {
            giveUp(current);
        }
        return super.enter(interruptible, waitNanos, leaseMillis);
    }

    /** Readers are to leave for writers of this session, too, which wait for them in this JVM only. */
    @Override
    public void announce(long leaseMillis) {
        LockTenure current = view.tenure;
        if (current != null && current.shared && shared.isShared()) {
            announced.add(Thread.currentThread());
            monitor.run(LockState::announceWriter);
        }
    }

    @Override
    public void cleanUp() {
        forget(true);
        super.cleanUp();
    }

    private void forget(boolean departs) {
        if (!announced.isEmpty() && announced.remove(Thread.currentThread()) && departs && announced.isEmpty()) {
            monitor.run(LockState::departWriter);
        }
    }

    @Override
    public @Nullable Departure leave(long now) {
        LockTenure current = owned();
        if (shared.sharedHolds() == 0) {
            return super.leave(now);
        }
        if (current.isOver(now)) {
            // The thread reads on, but excludes nobody.
            lose(current, "its lease is over");
            abandon();
            return super.leave(now);
        }
        ReliableRelease downgrade = monitor.downgrade(current);
        current.free();
        return () -> {
            Released released = session.await(downgrade.confirmed());
            if (released == null) {
                downgrade.repeat();
            }
            LeaseLostException loss = current.loss();
            if (released == Released.NOTHING && loss != null) {
                throw new LeaseLostException(loss);
            }
        };
    }

    // ---- the shared side

    @Override
    public boolean mayEnterShared(long begunNanos) {
        LockTenure current = view.tenure;
        long now = session.now();
        return current != null && view.keep.admits(current, begunNanos, now) && current.isUsable(now);
    }

    @Override
    public boolean isBarred(long begunNanos) {
        return view.tenure != null && shared.isShared() && !mayEnterShared(begunNanos);
    }

    @Override
    public boolean mayAskSharing() {
        return view.tenure == null;
    }

    @Override
    public void await(BooleanSupplier isSo, boolean interruptible, long waitNanos, long begunNanos)
            throws InterruptedException {
        RemoteWait wait = newWait(interruptible, waitNanos, this::unavailable);
        readers.add(wait);
        try (wait) {
            long nanos = waitNanos == RemoteWait.FOREVER ? waitNanos : waitNanos - (session.now() - begunNanos);
            wait.until(isSo, this, nanos);
        } finally {
            readers.remove(wait);
        }
    }

    @Override
    public void wakeReaders() {
        readers.forEach(RemoteWait::wake);
    }

    // Readers that may not join those inside don't queue.
    @Override
    public long drainNanos() {
        return 0;
    }

    @Override
    public boolean enterSharedAtOnce(long begunNanos) {
        LockTenure current = view.tenure;
        long now = session.now();
        if (current == null
                || local.loss() != null
                || session.isClosing()
                || !view.keep.admits(current, begunNanos, now)
                || isClosed(current)
                || !current.isUsable(now)) {
            return false;
        }
        if (!current.shared) {
            view.keep.entered(now);
            if (current.demand) {
                endTurnInTime(current);
            }
        }
        return true;
    }

    // One that is closed and not given up is reopened, since the current thread has a share.
    private boolean isClosed(LockTenure current) {
        return current.isClosed() && monitor.<Boolean>call((state, now) -> view.tenure != current);
    }

    @Override
    public boolean enterShared(boolean interruptible, long waitNanos, long begunNanos) throws InterruptedException {
        LockTenure current = view.tenure;
        if (current != null && shared.holds() > 0 && !view.keep.admits(current, begunNanos, session.now())) {
            // No thread is inside, and those that wait here were too late for what this session has.
            giveUp(current);
        }
        return enter(true, interruptible, waitNanos, RENEWED);
    }

    @Override
    public @Nullable LeaseLostException leaveShared() {
        LockTenure current = owned();
        return current.isOver(session.now()) ? lose(current, "its lease is over") : null;
    }

    @Override
    public void leftShared() {
        if (shared.isShared()) {
            return;
        }
        LockTenure current = view.tenure;
        long now = session.now();
        if (current != null && current.isUsable(now)) {
            if (mayKeep(current) && view.keep.keepsForReaders(current, now)) {
                retain(current);
            }
        } else if (current != null) {
            lose(current, "its lease is over");
        }
        cleanUp();
        wakeReaders();
    }

    @Override
    public boolean isRefused() {
        Ticket request = view.ticket;
        LockTenure current = view.tenure;
        return (request != null && request.isQueued()) || (current != null && current.isAbandoned());
    }

    // ---- demand

    @Override
    public void demanded() {
        super.demanded();
        LockTenure current = view.tenure;
        if (current != null && !current.shared) {
            endTurnInTime(current);
        }
    }

    private void endTurnInTime(LockTenure current) {
        if (!current.endsInTime) {
            monitor.run((state, now) -> state.endTurnInTime(current, now));
        }
    }

    @Override
    public void share() {
        monitor.run((state, now) -> {
            LockTenure current = view.tenure;
            if (current != null && !current.shared && shared.isShared()) {
                // While it is closed, no thread begins to write; afterwards, none does because it is shared.
                current.close();
                if (!shared.isOwned()) {
                    monitor.downgrade(current).insist();
                }
                current.reopen();
            }
        });
        // The last reader may have left just before.
        cleanUp();
    }

    @Override
    public void undemanded() {
        wakeReaders();
    }

    @Override
    public void changed() {
        super.changed();
        wakeReaders();
    }

    @Override
    public void lost(LeaseLostException loss) {
        super.lost(loss);
        wakeReaders();
    }

    @Override
    public void pulse() {
        super.pulse();
        LockTenure current = view.tenure;
        if (current != null && shared.isShared()) {
            long now = session.now();
            boolean isDue = !current.demand && now - current.lookAtNanos >= LOOK_NANOS;
            if (isDue || !readers.isEmpty()) {
                // The mailbox may be deaf, and readers may stay; or those that waited may be gone.
                current.lookAtNanos = now;
                monitor.renewNow(current);
            }
        }
    }
}
