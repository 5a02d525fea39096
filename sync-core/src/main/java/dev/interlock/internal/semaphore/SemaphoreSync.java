package dev.interlock.internal.semaphore;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Locked;
import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.semaphore.LocalPermits.Released;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.internal.session.Session;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How the threads of a session acquire permits and release them. They wait in the superclass, where a grant of the
 * remote half wakes them; which permits they get is up to {@link LocalPermits}.
 */
public final class SemaphoreSync {
    private final Session session;
    private final LocalSemaphore local;
    private final RemoteSemaphore remote;
    private final boolean fair;
    final ReentrantLock mutex;

    @GuardedBy("mutex")
    final LocalPermits stock;

    private final Locked<LocalPermits> locked;

    /** Joins the two halves. */
    public SemaphoreSync(Session session, LocalSemaphore local, boolean fair, RemoteSemaphore.Factory remote) {
        this.session = session;
        this.local = local;
        this.fair = fair;
        this.stock = new LocalPermits(session, local, fair, remote);
        this.remote = stock.remote();
        this.mutex = this.remote.mutex();
        this.locked = new Locked<>(mutex, stock);
    }

    /** Returns whether threads of this session are served in the order in which they have come. */
    public boolean isFair() {
        return fair;
    }

    /** Returns the name of the semaphore. */
    public String name() {
        return remote.name();
    }

    /** Returns the remote half. */
    public RemoteSemaphore remote() {
        return remote;
    }

    // ---- acquire

    /** Acquires permits, however long that takes. */
    public void acquireUninterruptibly(int permits) {
        try {
            acquire(permits, false, RemoteWait.FOREVER);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    /** Acquires permits, however long that takes. */
    public void acquire(int permits) throws InterruptedException {
        acquire(permits, true, RemoteWait.FOREVER);
    }

    /**
     * Acquires permits if that becomes possible within the wait; one of zero or less asks once, and doesn't barge if
     * this is fair.
     */
    public boolean tryAcquire(int permits, long waitNanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (waitNanos > 0) {
            return acquire(permits, true, waitNanos);
        }
        return !(fair && locked.call(LocalPermits::isAwaited)) && tryAcquire(permits);
    }

    private boolean acquire(int permits, boolean interruptible, long waitNanos) throws InterruptedException {
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        try (RemoteWait wait = new RemoteWait(session, interruptible, waitNanos, waited -> unavailable())) {
            Waiter waiter = new Waiter(Thread.currentThread(), permits);
            mutex.lock();
            try {
                ensureUsable();
                if (stock.takeInTurn(permits, wait.begunNanos())) {
                    return true;
                }
                stock.register(waiter, wait.begunNanos());
            } finally {
                mutex.unlock();
            }
            return acquire(waiter, wait);
        }
    }

    /** Acquires permits for a thread that is registered. */
    private boolean acquire(Waiter waiter, RemoteWait wait) throws InterruptedException {
        boolean acquired = false;
        try {
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
                acquired = passed && confirm(waiter, wait);
            }
            return true;
        } finally {
            if (!acquired) {
                locked.run(permits -> permits.withdraw(waiter));
            }
        }
    }

    private boolean awaitLocally(int permits, RemoteWait wait) throws InterruptedException {
        if (wait.isTimed()) {
            return local.tryAcquire(permits, Math.max(0, wait.callersLeftNanos()));
        }
        if (wait.isInterruptible()) {
            local.acquire(permits);
        } else {
            local.acquireUninterruptibly(permits);
        }
        return true;
    }

    private boolean comeOut(Waiter waiter, boolean taken) {
        return locked.call(permits -> permits.comeOut(waiter, taken));
    }

    /**
     * Makes sure that the permits with which the thread has come out are still the session's. If they aren't, the
     * thread is registered again. Also if this throws, the thread has none of them.
     */
    private boolean confirm(Waiter waiter, RemoteWait wait) throws InterruptedException {
        Taking taking = waiter.taking;
        if (taking == null) {
            return true;
        }
        boolean confirmed = false;
        try {
            // An answer that took longer than the lease says nothing about the present.
            for (CompletableFuture<?> asked = ask(taking); asked != null; asked = ask(taking)) {
                wait.await(asked, this);
                if (asked.isCompletedExceptionally()) {
                    throw refusal(asked);
                }
            }
            confirmed = true;
        } finally {
            confirmed = end(taking, waiter, confirmed);
        }
        return confirmed;
    }

    /** Asks whether these permits are the session's; null if that is known. */
    private @Nullable CompletableFuture<Void> ask(Taking taking) {
        mutex.lock();
        try {
            return stock.isCertain(taking) ? null : remote.confirmed();
        } finally {
            mutex.unlock();
        }
    }

    /** Returns whether the thread has acquired these permits. */
    private boolean end(Taking taking, Waiter waiter, boolean confirmed) {
        mutex.lock();
        try {
            waiter.taking = null;
            stock.end(taking);
            if (taking.stray) {
                stock.register(waiter, session.now());
                return false;
            }
            if (confirmed) {
                stock.assign(taking);
            } else {
                stock.giveBack(taking);
            }
            return confirmed;
        } finally {
            mutex.unlock();
        }
    }

    @GuardedBy("mutex")
    private void ensureUsable() {
        session.ensureOpen();
        stock.throwIfFailed();
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
                "Redis has not answered for semaphore " + Names.quoted(name()),
                session.outage().cause());
    }

    private RuntimeException refusal(CompletableFuture<?> refused) {
        Throwable cause = Failures.of(refused);
        return cause instanceof IllegalArgumentException || cause instanceof UnsupportedOperationException
                ? (RuntimeException) cause
                : Failures.refusal("semaphore " + Names.quoted(name()), cause);
    }

    // ---- release

    /** Gives permits back: to the next waiter, or to the pool. More than were acquired enlarge the pool. */
    public void release(int permits) {
        // A thread that was stopped for longer than the lease learns of the loss only by asking.
        session.await(locked.call(LocalPermits::certainty));
        Released released;
        mutex.lock();
        try {
            released = stock.release(permits);
        } finally {
            mutex.unlock();
        }
        session.await(released.confirmed());
        if (released.loss() != null) {
            throw new LeaseLostException(released.loss());
        }
    }

    // ---- commands that are answered once

    /** Acquires permits if there are any now, past all waiters. */
    public boolean tryAcquire(int permits) {
        Taking taking = new Taking();
        CompletableFuture<Integer> answer;
        mutex.lock();
        try {
            ensureUsable();
            if (permits > 0 && stock.takeFromStock(permits)) {
                return true;
            }
            answer = stock.take(permits, taking);
        } finally {
            mutex.unlock();
        }
        return outcome(answer, taking) >= 0 && !taking.stray;
    }

    private <T> T outcome(CompletableFuture<T> answer, Taking taking) {
        session.await(answer);
        CompletableFuture<Void> asked = ask(taking);
        if (asked != null) {
            session.await(asked);
        }
        mutex.lock();
        try {
            stock.end(taking);
            if (answer.cancel(false)) {
                session.ensureOpen();
                throw unavailable();
            }
            if (answer.isCompletedExceptionally()) {
                session.ensureOpen();
                throw refusal(answer);
            }
            if (!stock.isCertain(taking)) {
                stock.giveBack(taking);
                throw unavailable();
            }
            stock.assign(taking);
            return answer.join();
        } finally {
            mutex.unlock();
        }
    }

    /** Acquires all permits that there are. */
    public int drain() {
        Taking taking = new Taking();
        CompletableFuture<Integer> answer;
        int fromStock;
        mutex.lock();
        try {
            ensureUsable();
            fromStock = stock.drainStock();
            answer = stock.drain(taking);
        } finally {
            mutex.unlock();
        }
        boolean answered = false;
        try {
            int taken = outcome(answer, taking);
            answered = true;
            if (taken < 0) {
                return fromStock > 0 ? fromStock : taken;
            }
            return fromStock + (taking.stray ? 0 : taken);
        } finally {
            if (!answered && fromStock > 0 && !session.isClosed()) {
                release(fromStock);
            }
        }
    }

    /** Returns how many permits there are. */
    public int available() {
        CompletableFuture<Integer> answer;
        mutex.lock();
        try {
            ensureUsable();
            answer = stock.available();
        } finally {
            mutex.unlock();
        }
        return outcome(answer, new Taking());
    }

    /** Takes permits out of the pool that nobody has, even if there are none. */
    public void reduce(int permits) {
        CompletableFuture<Void> told;
        mutex.lock();
        try {
            session.ensureOpen();
            told = permits == 0 ? CompletableFuture.completedFuture(null) : remote.add(-permits);
        } finally {
            mutex.unlock();
        }
        session.await(told);
    }

    /** Changes how many permits there are. */
    public void resize(int permits) {
        ask(half -> half.resize(permits));
    }

    /** Makes sure that Redis agrees to what is stated of the semaphore. */
    public void join() {
        ask(RemoteSemaphore::join);
    }

    private void ask(Function<RemoteSemaphore, CompletableFuture<Void>> question) {
        CompletableFuture<Void> answer;
        mutex.lock();
        try {
            session.ensureOpen();
            answer = question.apply(remote);
        } finally {
            mutex.unlock();
        }
        outcome(answer, new Taking());
    }

    /** Calls the listener when permits are lost that threads have. The result ends that. */
    public Runnable onLost(Consumer<? super LeaseLostException> listener) {
        return locked.call(permits -> permits.onLost(listener));
    }
}
