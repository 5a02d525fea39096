package dev.interlock.simulation;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.lock.Tenure;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** What a thread does that has lost a lock, or never gives it back, and doesn't ask whether it still has that. */
final class Delusion {
    /** How long it takes until a session has heard of an operator. */
    private static final long LOSS_NANOS = 20_000_000;

    private final Op op;
    private final Worker worker;
    private final Actor actor;
    private final LockSubject lock;
    private final LockWitness witness;
    private final Lock side;
    private final @Nullable Tenure own;

    /**
     * Begins, inside.
     *
     * @param side what the thread has locked
     */
    Delusion(Op op, Worker worker, LockSubject lock, LockWitness witness, Lock side) {
        this.op = op;
        this.worker = worker;
        this.actor = worker.actor();
        this.lock = lock;
        this.witness = witness;
        this.side = side;
        this.own = lock.valid();
    }

    /**
     * Goes on until it ends, or unlocks late.
     *
     * @param again by what the thread might enter once more
     */
    void live(List<Lock> again) throws InterruptedException {
        actor.sleep(op.holdNanos());
        if (op.endsThread() && op.call().isLeased()) {
            witness.abandons(actor);
            return;
        }
        lose();
        if (own != null && lock.valid() == own) {
            // Its session has not heard of the operator: it is closed, or had another token by then.
            leave();
            side.unlock();
        } else if (op.endsThread()) {
            witness.abandons(actor);
        } else {
            leave();
            unlockLate(again);
        }
    }

    private void lose() {
        if (op.call().isLeased()) {
            actor.sleep(op.waitNanos());
        } else {
            lock.evict(worker);
            actor.sleep(LOSS_NANOS);
        }
    }

    // For the witness.
    private void leave() {
        witness.stopsReading(actor);
        witness.leaves(actor);
    }

    private void unlockLate(List<Lock> again) throws InterruptedException {
        try {
            if (op.call().isRepeated()) {
                lockAgain(again.get((int) (op.holdNanos() % again.size())));
            } else {
                actor.sleep(Op.DELUSION_NANOS);
            }
        } catch (InterruptedException | IllegalStateException | RedisUnavailableException e) {
            unlockInVain();
            throw e;
        }
        unlockInVain();
    }

    private void lockAgain(Lock entry) throws InterruptedException {
        boolean enters = true;
        try {
            switch ((int) (op.waitNanos() % 4)) {
                case 0 -> entry.lock();
                case 1 -> entry.lockInterruptibly();
                case 2 -> enters = entry.tryLock();
                default -> enters = entry.tryLock(op.waitNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (LeaseLostException e) {
            return;
        }
        throw new Violation(actor.name() + (enters ? " enters once more" : " is refused") + " what it has lost");
    }

    private void unlockInVain() {
        try {
            side.unlock();
        } catch (LeaseLostException e) {
            return;
        }
        throw new Violation(actor.name() + " isn't told that it has lost what it unlocks");
    }
}
