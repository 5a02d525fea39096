package dev.interlock.simulation;

import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.semaphore.PermitProbe;
import dev.interlock.internal.semaphore.PermitQueue;
import dev.interlock.internal.semaphore.PermitQueue.Held;
import dev.interlock.internal.session.HoldTerms;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** Holds of a semaphore's permits, and the drop-in semaphore of that name in the session beside theirs. */
final class HeldPermitsSubject implements Subject, SemaphoreWitness.Owner {
    private final PermitQueue queue;
    private final SemaphoreSubject semaphore;
    private final int permits;
    private final boolean owned;
    private final RedisSession session;
    private final Jvm jvm;
    private final SemaphoreWitness witness;

    HeldPermitsSubject(
            int number,
            Plan plan,
            SemaphoreSubject semaphore,
            RedisSession session,
            Jvm jvm,
            SemaphoreWitness witness) {
        this.permits = plan.size(number);
        this.owned = plan.ownsPermits(number);
        this.queue = new PermitQueue(session, SimulatedSession.name(number), permits, owned, false);
        this.semaphore = semaphore;
        this.session = session;
        this.jvm = jvm;
        this.witness = witness;
    }

    @Override
    public long valid() {
        return owned ? PermitProbe.valid(queue, jvm.clock()) : Long.MAX_VALUE;
    }

    @Override
    public boolean isGuarded() {
        return semaphore.isGuarded() || PermitProbe.isGuarded(queue);
    }

    @Override
    public void call(Op op, Worker worker) throws InterruptedException {
        switch (op.call()) {
            case HOLD_PERMITS -> {
                witness.called(worker);
                use(
                        op,
                        worker.actor(),
                        await(acquire(op, RemoteWait.FOREVER), worker.actor()).orElseThrow());
            }
            case TRY_HOLD_PERMITS -> tryToHold(op, worker, 0);
            case TRY_HOLD_PERMITS_TIMED -> tryToHold(op, worker, op.waitNanos());
            case CANCEL_PERMITS -> cancel(op, worker.actor());
            default -> semaphore.call(op, worker);
        }
    }

    private CompletableFuture<Optional<Held>> acquire(Op op, long waitNanos) {
        Executor executor = op.thinkNanos() % 2 == 0 ? Runnable::run : session.continuations();
        int number = 1 + (int) (op.holdNanos() % permits);
        return queue.acquire(
                number, new HoldTerms(waitNanos, RemoteLock.RENEWED, "", executor, executor), Function.identity());
    }

    private void tryToHold(Op op, Worker worker, long waitNanos) throws InterruptedException {
        Optional<Held> held = await(acquire(op, waitNanos), worker.actor());
        if (held.isPresent()) {
            use(op, worker.actor(), held.get());
        }
    }

    private void cancel(Op op, Actor actor) throws InterruptedException {
        // A request that asks only once is cancelled while it is under way, or not at all.
        CompletableFuture<Optional<Held>> asked = acquire(op, op.waitNanos() % 2 == 0 ? RemoteWait.FOREVER : 0);
        asked.whenComplete((done, failure) -> actor.unpark());
        actor.park(queue, op.holdNanos());
        if (!asked.cancel(false)) {
            Optional<Held> held = await(asked, actor);
            if (held.isPresent()) {
                use(op, actor, held.get());
            }
        }
    }

    private static <T> T await(CompletableFuture<T> answer, Actor actor) throws InterruptedException {
        answer.whenComplete((done, failure) -> actor.unpark());
        while (!answer.isDone()) {
            actor.park(answer, RemoteWait.FOREVER);
            if (Thread.interrupted()) {
                if (!answer.cancel(false)) {
                    answer.thenAccept(HeldPermitsSubject::giveBack);
                }
                throw new InterruptedException();
            }
        }
        if (answer.isCompletedExceptionally()) {
            throw (RuntimeException) Failures.of(answer);
        }
        return answer.join();
    }

    private static void giveBack(Object late) {
        if (late instanceof Optional<?> held) {
            held.ifPresent(permits -> ((Held) permits).release());
        }
    }

    // Leaves for the witness before it does for the library.
    private void use(Op op, Actor actor, Held held) throws InterruptedException {
        witness.acquired(actor, this, held.permits());
        actor.sleep(op.holdNanos() / 2);
        witness.check();
        actor.sleep(op.holdNanos() / 2);
        witness.releases(actor);
        CompletableFuture<Void> released = held.release();
        if (op.waitNanos() % 2 == 0) {
            await(released, actor);
        }
    }

    @Override
    public String toString() {
        return queue + " beside " + semaphore;
    }
}
