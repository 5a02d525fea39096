package dev.interlock.simulation;

import dev.interlock.internal.lock.LockSync;
import dev.interlock.internal.lock.ReadSync;
import dev.interlock.internal.lock.ReadWriteHalves;
import dev.interlock.internal.lock.script.ScriptReadWriteLock;
import dev.interlock.internal.session.RedisSession;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A read-write lock as the library makes it, but for the JDK superclass of its local half. */
final class ReadWriteSubject implements Subject {
    private final LockWitness witness;
    private final LockSubject writing;
    private final LockSync sync;
    private final ReadSync readSync;

    ReadWriteSubject(String name, boolean fair, RedisSession session, Jvm jvm, LockWitness witness) {
        this.witness = witness;
        ReadWriteHalves local = LocalReadWriteLockModel.halvesToShare(jvm, fair);
        ScriptReadWriteLock remote = new ScriptReadWriteLock(session, name, local, fair);
        this.sync = new LockSync(local, remote);
        this.readSync = new ReadSync(local, remote);
        this.writing = LockSubject.of(sync, remote, jvm, witness);
    }

    @Override
    public boolean isGuarded() {
        return writing.isGuarded();
    }

    @Override
    public void call(Op op, Worker worker) throws InterruptedException {
        Actor actor = worker.actor();
        witness.begins(actor);
        switch (op.call()) {
            case READ -> {
                witness.called(actor);
                readSync.lock();
                read(op, actor);
            }
            case READ_INTERRUPTIBLY -> {
                readSync.lockInterruptibly();
                read(op, actor);
            }
            case READ_TWICE -> {
                readSync.lock();
                readSync.lock();
                readSync.unlock();
                read(op, actor);
            }
            case READ_AND_LOSE, READ_WHAT_IS_LOST -> writing.lose(op, worker, readSync, List.of(readSync));
            case LOCK_WHAT_IS_LOST -> writing.lose(op, worker, sync, List.of(sync, readSync));
            case TRY_READ, TRY_READ_AT_ONCE -> tryToRead(op, actor);
            case TRY_READ_TIMED -> {
                if (readSync.tryLock(op.waitNanos(), TimeUnit.NANOSECONDS)) {
                    read(op, actor);
                }
            }
            case TRY_UPGRADE -> {
                readSync.lock();
                if (sync.tryLock()) {
                    throw new Violation(actor.name() + " writes while it reads");
                }
                read(op, actor);
            }
            case DOWNGRADE, PUT_AND_READ, TAKE_AND_READ -> downgrade(op, worker);
            default -> writing.call(op, worker);
        }
    }

    private void tryToRead(Op op, Actor actor) throws InterruptedException {
        if (op.call() == Call.TRY_READ ? readSync.tryLock() : readSync.tryLock(0, TimeUnit.NANOSECONDS)) {
            read(op, actor);
        } else {
            witness.refused(actor);
        }
    }

    private void read(Op op, Actor actor) {
        witness.enteredToRead(actor, writing, readSync::assertHeld);
        stayInside(op, actor);
        readSync.unlock();
    }

    // Leaves for the witness before it does for the library.
    private void stayInside(Op op, Actor actor) {
        actor.sleep(op.holdNanos() / 2);
        witness.asks(actor, readSync::assertHeld);
        witness.check();
        actor.sleep(op.holdNanos() / 2);
        witness.stopsReading(actor);
    }

    private void downgrade(Op op, Worker worker) throws InterruptedException {
        Actor actor = worker.actor();
        sync.lock();
        readSync.lock();
        try {
            try {
                witness.entered(actor, writing);
                actor.sleep(op.holdNanos() / 2);
                if (op.call() != Call.DOWNGRADE) {
                    writing.exchangeInside(op, worker);
                }
                witness.enteredToRead(actor, writing, readSync::assertHeld);
            } finally {
                witness.leaves(actor);
                sync.unlock();
            }
            stayInside(op, actor);
        } finally {
            witness.stopsReading(actor);
            readSync.unlock();
        }
    }

    @Override
    public String toString() {
        return writing.toString();
    }
}
