package dev.interlock.simulation;

import dev.interlock.internal.semaphore.PermitProbe;
import dev.interlock.internal.semaphore.ScriptSemaphore;
import dev.interlock.internal.semaphore.SemaphoreSync;
import dev.interlock.internal.session.RedisSession;

/** A semaphore as the library makes it, but for the JDK superclass of its local half. */
final class SemaphoreSubject implements Subject, SemaphoreWitness.Owner {
    private final int permits;
    private final boolean owned;
    private final SemaphoreWitness witness;
    private final Jvm jvm;
    private final SemaphoreSync sync;
    private boolean joined;

    SemaphoreSubject(int number, Kind kind, Plan plan, RedisSession session, Jvm jvm, SemaphoreWitness witness) {
        this.permits = plan.size(number);
        this.owned = plan.ownsPermits(number);
        this.witness = witness;
        this.jvm = jvm;
        this.sync = new SemaphoreSync(
                session,
                new LocalSemaphoreModel(jvm),
                local -> new ScriptSemaphore(
                        session, SimulatedSession.name(number), permits, owned, kind.isFair(), local));
    }

    @Override
    public long valid() {
        return owned ? PermitProbe.valid(sync, jvm.clock()) : Long.MAX_VALUE;
    }

    @Override
    public boolean isGuarded() {
        return PermitProbe.isGuarded(sync);
    }

    @Override
    public void call(Op op, Worker worker) throws InterruptedException {
        Actor actor = worker.actor();
        if (!joined) {
            sync.join();
            joined = true;
        }
        switch (op.call()) {
            case ACQUIRE -> {
                witness.called(worker);
                sync.acquire(1);
                use(1, op, actor);
            }
            case ACQUIRE_UNINTERRUPTIBLY -> {
                witness.called(worker);
                sync.acquireUninterruptibly(1);
                use(1, op, actor);
            }
            case ACQUIRE_SEVERAL -> {
                witness.called(worker);
                sync.acquire(several(op));
                use(several(op), op, actor);
            }
            default -> tryOrLook(op, worker);
        }
    }

    private void tryOrLook(Op op, Worker worker) throws InterruptedException {
        Actor actor = worker.actor();
        switch (op.call()) {
            case TRY_ACQUIRE -> {
                if (sync.tryAcquire(several(op))) {
                    use(several(op), op, actor);
                }
            }
            case TRY_ACQUIRE_AT_ONCE -> {
                witness.calledAtOnce(worker);
                if (sync.tryAcquire(several(op), 0)) {
                    use(several(op), op, actor);
                }
            }
            case TRY_ACQUIRE_TIMED -> {
                witness.called(worker);
                if (sync.tryAcquire(several(op), op.waitNanos())) {
                    use(several(op), op, actor);
                }
            }
            case DRAIN -> {
                int drained = sync.drain();
                if (drained > 0) {
                    use(drained, op, actor);
                }
            }
            case ADD_PERMITS -> sync.release(permits);
            case COUNT_PERMITS -> sync.available();
            case ACQUIRE_ALL -> acquireAll(op, actor);
            default -> throw new IllegalArgumentException("no call of a semaphore: " + op);
        }
    }

    private int several(Op op) {
        return 1 + (int) (op.holdNanos() % permits);
    }

    // Leaves for the witness before it does for the library.
    private void use(int number, Op op, Actor actor) {
        witness.acquired(actor, this, number);
        actor.sleep(op.holdNanos() / 2);
        witness.check();
        actor.sleep(op.holdNanos() / 2);
        witness.releases(actor);
        sync.release(number);
    }

    // Nobody else has any by now, or ever will.
    private void acquireAll(Op op, Actor actor) throws InterruptedException {
        if (!sync.tryAcquire(permits, op.waitNanos())) {
            throw new Violation("Of " + permits + " permits some are gone for good: " + sync.available() + " are left");
        }
        use(permits, op, actor);
        int left = sync.available();
        if (left != permits) {
            throw new Violation("There are " + left + " permits, and not " + permits);
        }
    }

    @Override
    public String toString() {
        return "semaphore [" + sync.remote() + "]";
    }
}
