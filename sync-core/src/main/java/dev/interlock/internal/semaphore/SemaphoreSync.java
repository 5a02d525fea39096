package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.semaphore.Holdings.Release;
import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.semaphore.Operations.Operation.Verb;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Taking;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.internal.session.RemoteWait.Acquisition;
import dev.interlock.internal.session.Resource;
import dev.interlock.internal.session.Session;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How the threads of a session acquire permits and release them. They wait in the superclass, where a grant of the
 * remote half wakes them; which permits they get is up to {@link LocalPermits}.
 */
public final class SemaphoreSync {
    private final Session session;
    private final LocalSemaphore local;
    private final RemoteSemaphore remote;
    private final Resource<LocalPermits> permits;
    private final String name;

    /** Joins the two halves. */
    public SemaphoreSync(Session session, LocalSemaphore local, RemoteSemaphore.Factory factory) {
        this.session = session;
        this.local = local;
        this.remote = factory.create(local);
        this.permits = remote.resource();
        this.name = permits.call((known, now) -> known.name);
    }

    /** Returns the name, without the session's namespace. */
    public String name() {
        return name;
    }

    /** Returns the remote half. */
    public RemoteSemaphore remote() {
        return remote;
    }

    // ---- acquire

    /** Acquires permits, however long that takes. */
    public void acquireUninterruptibly(int number) {
        try {
            acquire(number, false, RemoteWait.FOREVER);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    /** Acquires permits, however long that takes. */
    public void acquire(int number) throws InterruptedException {
        acquire(number, true, RemoteWait.FOREVER);
    }

    /**
     * Acquires permits if that becomes possible within the wait; one of zero or less asks once, and doesn't barge if
     * this is fair.
     */
    public boolean tryAcquire(int number, long waitNanos) throws InterruptedException {
        if (waitNanos > 0) {
            return acquire(number, true, waitNanos);
        }
        return told(number, () -> {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            return take((known, now) -> known.tryAcquireInTurn(number, now));
        });
    }

    private boolean acquire(int number, boolean interruptible, long waitNanos) throws InterruptedException {
        return told(number, () -> acquireUntold(number, interruptible, waitNanos));
    }

    private boolean acquireUntold(int number, boolean interruptible, long waitNanos) throws InterruptedException {
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        try (RemoteWait wait = new RemoteWait(session, interruptible, waitNanos, waited -> unavailable()).acquiring()) {
            Waiter waiter = new Waiter(Thread.currentThread(), number, wait.begunNanos());
            return come(waiter) || acquire(waiter, wait);
        }
    }

    /** Has the listeners know what becomes of an acquisition. */
    private boolean told(int number, Acquisition acquisition) throws InterruptedException {
        SyncListener listener = session.settings().listener();
        if (listener == SyncListener.NONE) {
            return acquisition.run();
        }
        long begun = session.now();
        return RemoteWait.observe(
                acquisition, outcome -> listener.permitsAsked(name, number, outcome, session.now() - begun));
    }

    private boolean come(Waiter waiter) {
        boolean acquired = callAcquiring((known, now) -> known.come(waiter, now));
        if (!acquired) {
            closeIfLate();
        }
        return acquired;
    }

    // The session may have been closed before it could see a thread that waits now.
    private void closeIfLate() {
        if (session.isClosed()) {
            remote.close();
        }
    }

    /** Acquires permits for a thread that is registered. */
    private boolean acquire(Waiter waiter, RemoteWait wait) throws InterruptedException {
        boolean acquired = false;
        try {
            if (permits.<Boolean>call((known, now) -> known.isAboutToGrant(waiter))) {
                session.spinner().awaits(() -> local.availablePermits() >= waiter.permits);
            }
            while (!acquired) {
                boolean taken = false;
                boolean passed;
                try {
                    taken = awaitLocally(waiter.permits, wait);
                } finally {
                    passed = comeOut(waiter, taken);
                }
                if (!taken) {
                    throwIfSilent();
                    return false;
                }
                acquired = passed && (waiter.arrived == 0 || confirm(waiter, wait));
            }
            return true;
        } finally {
            if (!acquired) {
                permits.run((known, now) -> known.withdraw(waiter));
            }
        }
    }

    private boolean awaitLocally(int number, RemoteWait wait) throws InterruptedException {
        if (wait.isTimed()) {
            return local.tryAcquire(number, Math.max(0, wait.callersLeftNanos()));
        }
        if (wait.isInterruptible()) {
            local.acquire(number);
        } else {
            local.acquireUninterruptibly(number);
        }
        return true;
    }

    private boolean comeOut(Waiter waiter, boolean taken) {
        return permits.call((known, now) -> known.comeOut(waiter, taken, now));
    }

    /**
     * Makes sure that the permits with which the thread has come out are still the session's. If they aren't, the
     * thread is registered again. Also if this throws, the thread has none of them.
     */
    private boolean confirm(Waiter waiter, RemoteWait wait) throws InterruptedException {
        boolean confirmed = false;
        try {
            // An answer that took longer than the lease says nothing about the present.
            for (CompletableFuture<?> asked = ask(waiter); asked != null; asked = ask(waiter)) {
                wait.await(asked, this);
                if (asked.isCompletedExceptionally()) {
                    throw refusal(asked);
                }
            }
            confirmed = true;
        } finally {
            confirmed = end(waiter, confirmed);
        }
        return confirmed;
    }

    private boolean end(Waiter waiter, boolean confirmed) {
        boolean acquired = permits.call((known, now) -> known.confirm(waiter, confirmed, now));
        if (!acquired) {
            closeIfLate();
        }
        return acquired;
    }

    /** Asks whether these permits are the session's; null if that is known. */
    private @Nullable CompletableFuture<Void> ask(Taking taking) {
        return permits.<@Nullable CompletableFuture<Void>>call(
                (known, now) -> known.isCertain(taking, now) ? null : remote.confirmed());
    }

    /** Throws if it isn't known whether there would have been permits. */
    private void throwIfSilent() {
        session.ensureOpen();
        if (session.outage().isActive()) {
            throw unavailable();
        }
    }

    private RedisUnavailableException unavailable() {
        return new RedisUnavailableException(
                "Redis has not answered for semaphore " + Names.quoted(name),
                session.outage().cause());
    }

    private RuntimeException refusal(CompletableFuture<?> refused) {
        return refusal(name, Failures.of(refused));
    }

    static RuntimeException refusal(String name, Throwable cause) {
        return cause instanceof IllegalArgumentException || cause instanceof UnsupportedOperationException
                ? (RuntimeException) cause
                : Failures.refusal("semaphore " + Names.quoted(name), cause);
    }

    // ---- release

    /** Gives permits back: to the next waiter, or to the pool. More than were acquired enlarge the pool. */
    public void release(int number) {
        Release certain = this.<@Nullable Release>tell(
                (known, now) -> known.isUncertain(now) || known.exceeds(number) ? null : release(known, number, now));
        Release release = certain == null ? releaseOnceHeard(number) : certain;
        LeaseLostException loss =
                release.isSettled() ? release.loss() : permits.call((known, now) -> known.holdings.abandon(release));
        if (loss != null) {
            throw new LeaseLostException(loss);
        }
    }

    // A thread that was stopped for longer than the lease learns of the loss only by asking.
    private Release releaseOnceHeard(int number) {
        boolean isHeard = hear();
        return tell((known, now) -> {
            if (isHeard && known.exceeds(number)) {
                throw new Error("Maximum permit count exceeded");
            }
            return release(known, number, now);
        });
    }

    private Release release(LocalPermits known, int number, long now) {
        if (known.holdings.lost() < number) {
            session.ensureOpen();
        }
        return known.release(number, now);
    }

    /** Takes permits out of the pool that nobody has, even if there are none. */
    public void reduce(int number) {
        boolean isHeard = permits.call((known, now) -> known.underflows(number)) && hear();
        tell((known, now) -> {
            session.ensureOpen();
            if (isHeard && known.underflows(number)) {
                throw new Error("Permit count underflow");
            }
            known.reduce(number);
            return number;
        });
    }

    /** Asks Redis about what is in doubt. Returns whether it has answered. */
    private boolean hear() {
        CompletableFuture<Void> asked = permits.<@Nullable CompletableFuture<Void>>call(
                (known, now) -> session.isClosed() ? null : remote.confirmed());
        if (asked == null) {
            return false;
        }
        session.await(asked);
        return asked.isDone() && !asked.isCompletedExceptionally();
    }

    /** Has a thread tell the pool, and waits for the confirmation. */
    private <R extends @Nullable Object> R tell(Resource.Query<LocalPermits, R> event) {
        record Told<R extends @Nullable Object>(R result, CompletableFuture<Void> confirmed) {}
        Told<R> told = permits.call((known, now) -> new Told<>(event.on(known, now), remote.told()));
        if (!told.confirmed.isDone()) {
            if (permits.<Boolean>call((known, now) -> known.isQuiet())) {
                session.spinner().awaits(told.confirmed);
            }
            session.await(told.confirmed);
        }
        return told.result;
    }

    // ---- commands that are answered once

    /** Acquires permits if there are any now, past all waiters. */
    public boolean tryAcquire(int number) {
        try {
            return told(number, () -> take((known, now) -> known.tryAcquire(number, now)));
        } catch (InterruptedException e) {
            throw new AssertionError("no wait could be interrupted", e);
        }
    }

    private boolean take(Resource.Query<LocalPermits, @Nullable Operation> event) {
        Operation taking = callAcquiring(event);
        return taking == null || (outcome(taking) >= 0 && !taking.stray);
    }

    /** Acquires all permits that there are. */
    public int drain() {
        Operation draining = callAcquiring((known, now) -> known.drain(now));
        int fromStock = draining.fromStock;
        boolean answered = false;
        try {
            int taken = outcome(draining);
            answered = true;
            if (taken < 0) {
                return fromStock > 0 ? fromStock : taken;
            }
            return Ints.saturatedCast((long) fromStock + (draining.stray ? 0 : taken));
        } finally {
            if (!answered && fromStock > 0 && !session.isClosed()) {
                release(fromStock);
            }
        }
    }

    /** Returns how many permits there are. */
    public int available() {
        return outcome(callOpen((known, now) -> known.look()));
    }

    /** Changes how many permits there are. */
    public void resize(int number) {
        outcome(callOpen((known, now) -> known.operate(Verb.RESIZE, number)));
    }

    /** Makes sure that Redis agrees to what is stated of the semaphore. */
    public void join() {
        outcome(callOpen((known, now) -> known.operate(Verb.JOIN, 0)));
    }

    private <R extends @Nullable Object> R callOpen(Resource.Query<LocalPermits, R> event) {
        return permits.call((known, now) -> {
            session.ensureOpen();
            return event.on(known, now);
        });
    }

    private <R extends @Nullable Object> R callAcquiring(Resource.Query<LocalPermits, R> event) {
        return permits.call((known, now) -> {
            session.ensureAcquiring();
            return event.on(known, now);
        });
    }

    private int outcome(Operation operation) {
        session.await(operation.result);
        CompletableFuture<Void> asked = ask(operation);
        if (asked != null) {
            session.await(asked);
        }
        boolean answered = permits.call((known, now) -> known.end(operation, now));
        if (!answered) {
            session.ensureOpen();
            throw unavailable();
        }
        if (operation.result.isCompletedExceptionally()) {
            session.ensureOpen();
            throw refusal(operation.result);
        }
        return operation.result.join();
    }

    /** Calls the listener when permits are lost that threads have. The result ends that. */
    public Runnable onLost(Consumer<? super LeaseLostException> listener) {
        Consumer<LeaseLostException> told = session.aside(listener);
        return permits.call((known, now) -> {
            known.holdings.listeners.add(told);
            return () -> known.holdings.listeners.remove(told);
        });
    }
}
