package dev.interlock.simulation;

import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.Tenure;
import dev.interlock.internal.lock.script.HoldQueue;
import dev.interlock.internal.lock.script.HoldQueue.Held;
import dev.interlock.internal.lock.script.TenureProbe;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.HoldTerms;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The holds of a name, and the drop-in lock of that name in the session beside theirs. */
final class HoldSubject implements Subject {
    private final HoldQueue queue;
    private final LockSubject lock;
    private final RedisSession session;
    private final Jvm jvm;
    private final LockWitness witness;

    HoldSubject(String name, LockSubject lock, RedisSession session, Jvm jvm, LockWitness witness) {
        this.queue = new HoldQueue(session, name);
        this.lock = lock;
        this.session = session;
        this.jvm = jvm;
        this.witness = witness;
    }

    /** A hold, as the witness sees it. */
    private final class Inside implements Owned {
        final Held held;

        Inside(Held held) {
            this.held = held;
        }

        @Override
        public long fencingToken() {
            held.assertValid();
            return held.token();
        }

        @Override
        public @Nullable Tenure valid() {
            return held.loss() == null ? TenureProbe.valid(queue, jvm.clock()) : null;
        }

        @Override
        public String toString() {
            return held + " of " + queue;
        }
    }

    @Override
    public boolean isGuarded() {
        return lock.isGuarded() || TenureProbe.isGuarded(queue);
    }

    @Override
    public boolean mayFail(Op op, Exception failure) {
        return lock.mayFail(op, failure);
    }

    @Override
    public void call(Op op, Worker worker) throws InterruptedException {
        Actor actor = worker.actor();
        switch (op.call()) {
            case HOLD, HOLD_WITH_LEASE, HOLD_AND_PASS -> {
                witness.begins(actor);
                stayInside(
                        op, actor, await(acquire(op, RemoteWait.FOREVER), actor).orElseThrow());
            }
            case TRY_HOLD -> {
                witness.begins(actor);
                tryToHold(op, actor, 0);
            }
            case TRY_HOLD_TIMED -> {
                witness.begins(actor);
                tryToHold(op, actor, op.waitNanos());
            }
            case CANCEL_HOLD -> {
                witness.begins(actor);
                cancel(op, actor);
            }
            default -> lock.call(op, worker);
        }
    }

    private CompletableFuture<Optional<Held>> acquire(Op op, long waitNanos) {
        // The thread that brings the answer, or another one.
        Executor executor = op.thinkNanos() % 2 == 0 ? Runnable::run : session.continuations();
        long leaseMillis = op.call().isLeased() ? TimeUnit.NANOSECONDS.toMillis(op.waitNanos()) : RemoteLock.RENEWED;
        return queue.acquire(new HoldTerms(waitNanos, leaseMillis, "", executor, executor), Function.identity());
    }

    private void tryToHold(Op op, Actor actor, long waitNanos) throws InterruptedException {
        Optional<Held> held = await(acquire(op, waitNanos), actor);
        if (held.isPresent()) {
            stayInside(op, actor, held.get());
        } else if (waitNanos == 0) {
            witness.refused(actor);
        }
    }

    private void cancel(Op op, Actor actor) throws InterruptedException {
        CompletableFuture<Optional<Held>> asked = acquire(op, RemoteWait.FOREVER);
        asked.whenComplete((done, failure) -> actor.unpark());
        actor.park(queue, op.holdNanos());
        if (!asked.cancel(false)) {
            stayInside(op, actor, await(asked, actor).orElseThrow());
        }
    }

    /** Waits as a thread does that is interrupted: it cancels what it has asked for, or gives it back. */
    private <T> T await(CompletableFuture<T> answer, Actor actor) throws InterruptedException {
        return await(answer, queue, actor);
    }

    private <T> T await(CompletableFuture<T> answer, Object blocker, Actor actor) throws InterruptedException {
        answer.whenComplete((done, failure) -> actor.unpark());
        while (!answer.isDone()) {
            actor.park(blocker, RemoteWait.FOREVER);
            if (Thread.interrupted()) {
                if (!answer.cancel(false)) {
                    answer.thenAccept(late -> {
                        if (late instanceof Optional<?> held) {
                            held.ifPresent(hold -> ((Held) hold).release());
                        }
                    });
                }
                throw new InterruptedException();
            }
        }
        if (answer.isCompletedExceptionally()) {
            throw (RuntimeException) Failures.of(answer);
        }
        return answer.join();
    }

    // Leaves for the witness before it does for the library.
    private void stayInside(Op op, Actor actor, Held held) throws InterruptedException {
        witness.entered(actor, new Inside(held));
        if (op.call() == Call.HOLD_AND_PASS) {
            CompletableFuture<Void> passedOn = new CompletableFuture<>();
            jvm.after(op.holdNanos(), () -> {
                witness.leaves(actor);
                held.release().whenComplete((done, failure) -> finish(passedOn, failure));
            });
            await(passedOn, held, actor);
            return;
        }
        actor.sleep(op.holdNanos() / 2);
        witness.asks(actor, held::assertValid);
        witness.check();
        if (op.call() == Call.HOLD_WITH_LEASE && op.thinkNanos() % 3 > 0) {
            // Nobody waits for that. A shorter one changes nothing.
            long millis = TimeUnit.NANOSECONDS.toMillis(op.waitNanos());
            var unused = held.extend(op.thinkNanos() % 3 == 1 ? millis : Math.max(1, millis / 8));
        }
        actor.sleep(op.holdNanos() / 2);
        witness.leaves(actor);
        CompletableFuture<Void> released = held.release();
        if (op.holdNanos() % 2 == 0) {
            await(released, held, actor);
        }
    }

    private static void finish(CompletableFuture<Void> result, @Nullable Throwable failure) {
        if (failure == null) {
            result.complete(null);
        } else {
            result.completeExceptionally(Failures.cause(failure));
        }
    }

    @Override
    public String toString() {
        return queue + ", " + TenureProbe.state(queue) + ", beside " + lock;
    }
}
