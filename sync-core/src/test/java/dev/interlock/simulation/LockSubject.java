package dev.interlock.simulation;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.LockSync;
import dev.interlock.internal.lock.ReadSync;
import dev.interlock.internal.lock.Tenure;
import dev.interlock.internal.lock.script.ScriptLock;
import dev.interlock.internal.lock.script.TenureProbe;
import dev.interlock.internal.quorum.QuorumLock;
import dev.interlock.internal.quorum.QuorumProbe;
import dev.interlock.internal.quorum.QuorumSession;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.RedisSession;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock as the library makes it, but for the JDK superclass of its local half; or the writing side of a read-write
 * lock.
 */
final class LockSubject implements Subject, Owned {
    private static final long RETAINED_MILLIS = 50;

    private final LockWitness witness;
    private final LockSync sync;
    private final Supplier<@Nullable Tenure> valid;
    private final BooleanSupplier isGuarded;
    private final Object remote;
    private final String key;

    /**
     * Creates the lock.
     *
     * @param valid the tenure by which its session believes that it owns the name, or null
     * @param isGuarded whether the current thread has what others would wait for without the session's knowledge
     */
    LockSubject(
            LockSync sync,
            Object remote,
            String key,
            Supplier<@Nullable Tenure> valid,
            BooleanSupplier isGuarded,
            LockWitness witness) {
        this.sync = sync;
        this.remote = remote;
        this.key = key;
        this.valid = valid;
        this.isGuarded = isGuarded;
        this.witness = witness;
    }

    /** Makes the lock of these halves. */
    static LockSubject of(LockSync sync, ScriptLock remote, Jvm jvm, LockWitness witness) {
        return new LockSubject(
                sync,
                remote,
                TenureProbe.key(remote),
                () -> TenureProbe.valid(remote, jvm.clock()),
                () -> TenureProbe.isGuarded(remote),
                witness);
    }

    /** Makes a lock of one Redis. */
    static LockSubject of(String name, Kind kind, RedisSession session, Jvm jvm, LockWitness witness) {
        Halves<?> local = LocalLockModel.halves(jvm, kind.isFair());
        long retainMillis = kind.isFair() ? 0 : kind == Kind.RETAINED_LOCK ? RETAINED_MILLIS : ScriptLock.ADAPTIVE;
        ScriptLock remote = new ScriptLock(session, name, local, kind.isFair(), retainMillis);
        return of(new LockSync(local, remote), remote, jvm, witness);
    }

    /** Makes a quorum lock. */
    static LockSubject of(String name, QuorumSession session, Jvm jvm, LockWitness witness) {
        Halves<?> local = LocalLockModel.halves(jvm, false);
        QuorumLock remote = new QuorumLock(session, name, local);
        return new LockSubject(
                new LockSync(local, remote),
                remote,
                QuorumProbe.key(name),
                () -> QuorumProbe.valid(remote, jvm.clock()),
                () -> false,
                witness);
    }

    LockSync sync() {
        return sync;
    }

    @Override
    public boolean isGuarded() {
        return isGuarded.getAsBoolean();
    }

    @Override
    public long fencingToken() {
        return sync.fencingToken();
    }

    @Override
    public @Nullable Tenure valid() {
        return valid.get();
    }

    // A fixed lease begins with the grant, and most of it may be over when the session hears of that.
    @Override
    public boolean mayFail(Op op, Exception failure) {
        return op.call().isLeased() && failure instanceof LeaseLostException;
    }

    @Override
    public void call(Op op, Worker worker) throws InterruptedException {
        Actor actor = worker.actor();
        witness.begins(actor);
        switch (op.call()) {
            case LOCK -> {
                witness.called(actor);
                sync.lock();
                stayInside(op, actor);
            }
            case LOCK_INTERRUPTIBLY -> {
                sync.lockInterruptibly();
                stayInside(op, actor);
            }
            case LOCK_WITH_LEASE -> {
                sync.lock(TimeUnit.NANOSECONDS.toMillis(op.waitNanos()), TimeUnit.MILLISECONDS);
                stayInside(op, actor);
            }
            case LOCK_TWICE -> {
                sync.lock();
                sync.lock();
                sync.unlock();
                stayInside(op, actor);
            }
            case TRY_LOCK, TRY_LOCK_AT_ONCE -> tryToLock(op, actor);
            case TRY_LOCK_TIMED -> {
                if (sync.tryLock(op.waitNanos(), TimeUnit.NANOSECONDS)) {
                    stayInside(op, actor);
                }
            }
            case LOCK_AND_OUTSTAY, LOCK_AND_LOSE, LOCK_WHAT_IS_LOST, LOCK_WHAT_IS_OVER ->
                lose(op, worker, sync, List.of(sync));
            case PUT, PUT_TO_ALL, TAKE, TAKE_OR_PUT -> exchange(op, worker);
            default -> throw new IllegalArgumentException("no call of a lock: " + op);
        }
    }

    private void tryToLock(Op op, Actor actor) throws InterruptedException {
        if (op.call() == Call.TRY_LOCK ? sync.tryLock() : sync.tryLock(0, TimeUnit.NANOSECONDS)) {
            stayInside(op, actor);
        } else {
            witness.refused(actor);
        }
    }

    // Leaves for the witness before it does for the library.
    private void stayInside(Op op, Actor actor) {
        witness.entered(actor, this);
        actor.sleep(op.holdNanos() / 2);
        witness.asks(actor, sync::assertHeld);
        witness.check();
        actor.sleep(op.holdNanos() / 2);
        witness.leaves(actor);
        sync.unlock();
    }

    /**
     * Locks, and goes on without the lock.
     *
     * @param side what is locked
     * @param again by what a thread that has it might enter once more
     */
    void lose(Op op, Worker worker, Lock side, List<Lock> again) throws InterruptedException {
        if (op.call().isLeased()) {
            sync.lock(TimeUnit.NANOSECONDS.toMillis(op.waitNanos()), TimeUnit.MILLISECONDS);
        } else {
            side.lock();
        }
        if (side instanceof ReadSync reading) {
            witness.enteredToRead(worker.actor(), this, reading::assertHeld);
        } else {
            witness.entered(worker.actor(), this);
        }
        new Delusion(op, worker, this, witness, side).live(again);
    }

    /** An operator takes the lock away from the thread that is inside. */
    void evict(Worker worker) {
        worker.deliver(new Mail.Eviction(key, 1, sync.remote().knownToken(), "interlock-operator").text());
    }

    private void exchange(Op op, Worker worker) throws InterruptedException {
        Actor actor = worker.actor();
        sync.lock();
        try {
            witness.entered(actor, this);
            actor.sleep(op.holdNanos() / 2);
            exchangeInside(op, worker);
            actor.sleep(op.holdNanos() / 2);
        } finally {
            witness.leaves(actor);
            sync.unlock();
        }
    }

    /** Puts or takes an item, with the lock. */
    void exchangeInside(Op op, Worker worker) throws InterruptedException {
        switch (op.call()) {
            case TAKE, TAKE_AND_READ -> take(worker);
            case TAKE_OR_PUT -> takeOrPut(op, worker.actor());
            default -> put(op.call() == Call.PUT_TO_ALL);
        }
    }

    private Condition items() {
        return sync.newCondition("items");
    }

    // A thread that has lost the lock can't signal, so it puts nothing.
    private void put(boolean toAll) {
        if (toAll) {
            items().signalAll();
        } else {
            items().signal();
        }
        witness.put();
    }

    private void take(Worker worker) throws InterruptedException {
        worker.dependsOnOthers(true);
        witness.beginsToTake();
        try {
            while (!witness.take()) {
                boolean isInside = witness.leaves(worker.actor());
                try {
                    items().await();
                } catch (LeaseLostException e) {
                    witness.lostByWaiting(worker.actor(), isInside, e);
                    throw e;
                } finally {
                    witness.returned(worker.actor(), this);
                }
            }
        } finally {
            witness.endsTaking();
            worker.dependsOnOthers(false);
        }
    }

    private void takeOrPut(Op op, Actor actor) throws InterruptedException {
        boolean signalled = true;
        while (!witness.take()) {
            if (!signalled) {
                put(false);
                return;
            }
            boolean isInside = witness.leaves(actor);
            try {
                signalled = items().await(op.waitNanos(), TimeUnit.NANOSECONDS);
            } catch (LeaseLostException e) {
                witness.lostByWaiting(actor, isInside, e);
                throw e;
            } finally {
                witness.returned(actor, this);
            }
        }
    }

    @Override
    public String toString() {
        return remote.toString();
    }
}
