package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.semaphore.Waiters.Waiter;
import dev.interlock.internal.session.Session;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * How the threads of a session get permits and give them back. They wait in the superclass, where a grant of the remote
 * half wakes them, and take what they get from the {@link Stock}.
 */
public final class SemaphoreSync extends Stock {
    private static final long FOREVER = Long.MAX_VALUE;
    private final boolean fair;
    private final Answers answers;

    /** Since when nobody has come out who was waiting. */
    private long headSinceNanos;

    /** Joins the two halves. */
    public SemaphoreSync(
            Session session,
            LocalSemaphore local,
            boolean fair,
            Function<RemoteSemaphore.Recipient, RemoteSemaphore> remote) {
        super(session, local, remote);
        this.fair = fair;
        this.answers = new Answers(session, name());
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
            acquire(permits, false, FOREVER);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    /** Acquires permits, however long that takes. */
    public void acquire(int permits) throws InterruptedException {
        acquire(permits, true, FOREVER);
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
        return !(fair && lockedly(this::isAwaited)) && tryAcquire(permits);
    }

    private boolean isAwaited() {
        return !waiters.isEmpty() || remote.isContended();
    }

    private boolean acquire(int permits, boolean interruptible, long waitNanos) throws InterruptedException {
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        long start = session.now();
        Waiter waiter;
        mutex.lock();
        try {
            ensureUsable();
            if (mayBarge(start) && takeFromStock(permits)) {
                return true;
            }
            waiter = new Waiter(Thread.currentThread(), permits);
            register(waiter, start);
        } finally {
            mutex.unlock();
        }
        boolean admitted = false;
        try {
            while (true) {
                boolean taken = false;
                boolean passed;
                try {
                    taken = await(permits, interruptible, waitNanos, start);
                } finally {
                    passed = comeOut(waiter, taken);
                }
                if (!taken) {
                    answers.throwIfSilent();
                    return false;
                }
                if (passed && confirm(waiter, interruptible, waitNanos, start)) {
                    admitted = true;
                    return true;
                }
            }
        } finally {
            if (!admitted) {
                withdraw(waiter);
            }
        }
    }

    private boolean await(int permits, boolean interruptible, long waitNanos, long start) throws InterruptedException {
        if (waitNanos != FOREVER) {
            return local.tryAcquire(permits, Math.max(0, waitNanos - (session.now() - start)));
        }
        if (interruptible) {
            local.acquire(permits);
        } else {
            local.acquireUninterruptibly(permits);
        }
        return true;
    }

    private void ensureUsable() {
        session.ensureOpen();
        Supplier<? extends RuntimeException> known = failure;
        if (known != null) {
            throw known.get();
        }
    }

    private boolean mayBarge(long now) {
        return waiters.isEmpty()
                || (!fair && now - headSinceNanos < session.settings().handoffSliceNanos());
    }

    private boolean takeFromStock(int permits) {
        if (permits > supply || !isValid(permits) || !local.tryAcquire(permits)) {
            return false;
        }
        supply -= permits;
        assign(permits);
        if (!waiters.isEmpty()) {
            evaluate();
        }
        return true;
    }

    private boolean isValid(int permits) {
        return permits == 0 || remote.isValid();
    }

    private void assign(int permits) {
        if (remote.isOwned()) {
            holdings.add(permits);
        }
    }

    private void register(Waiter waiter, long now) {
        if (waiters.isEmpty()) {
            headSinceNanos = now;
        }
        waiters.add(waiter);
        evaluate();
        if (session.isClosed()) {
            // It may have been closed before it could see this waiter.
            remote.close();
        }
    }

    /**
     * The thread has left the superclass's queue, with its permits or without. Returns whether it has acquired them. If
     * not though it had taken some it is still registered.
     */
    private boolean comeOut(Waiter waiter, boolean taken) {
        mutex.lock();
        try {
            if (!taken) {
                waiters.remove(waiter);
                settle();
                return false;
            }
            Supplier<? extends RuntimeException> known = failure;
            if (known != null) {
                local.release(waiter.permits);
                waiters.remove(waiter);
                settle();
                throw known.get();
            }
            int gone = (int) Math.min(stray, waiter.permits);
            if (gone > 0) {
                stray -= gone;
                local.release(waiter.permits - gone);
                evaluate();
                return false;
            }
            supply -= waiter.permits;
            waiters.remove(waiter);
            headSinceNanos = session.now();
            if (isValid(waiter.permits)) {
                assign(waiter.permits);
            } else {
                waiter.taking = new Taking();
                waiter.taking.arrived = waiter.permits;
                takings.add(waiter.taking);
            }
            settle();
            return true;
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Makes sure that what the thread has come out with is still the session's. If it isn't, the thread is registered
     * again. Also if this throws, the thread has none of it.
     */
    private boolean confirm(Waiter waiter, boolean interruptible, long waitNanos, long start)
            throws InterruptedException {
        Taking taking = waiter.taking;
        if (taking == null) {
            return true;
        }
        boolean confirmed = false;
        try {
            // An answer that took longer than the lease says nothing of now.
            while (!lockedly(() -> isCertain(taking))) {
                answers.await(lockedly(remote::confirmed), interruptible, waitNanos, start);
            }
            confirmed = true;
        } finally {
            mutex.lock();
            try {
                waiter.taking = null;
                takings.remove(taking);
                if (taking.stray) {
                    confirmed = false;
                    register(waiter, session.now());
                } else if (confirmed) {
                    assign(waiter.permits);
                } else {
                    giveBack(waiter.permits);
                }
            } finally {
                mutex.unlock();
            }
        }
        return confirmed;
    }

    /** Returns whether it is known whether what has arrived is the session's. */
    private boolean isCertain(Taking taking) {
        return taking.stray || isValid(taking.arrived);
    }

    private <T> T lockedly(Supplier<T> action) {
        mutex.lock();
        try {
            return action.get();
        } finally {
            mutex.unlock();
        }
    }

    /** Whatever the thread has met, it isn't waiting any more. */
    private void withdraw(Waiter waiter) {
        mutex.lock();
        try {
            if (waiters.remove(waiter)) {
                settle();
            }
        } finally {
            mutex.unlock();
        }
    }

    // ---- release

    /** Gives permits back: to the next waiter, or to the pool. More than were acquired enlarge the pool. */
    public void release(int permits) {
        CompletableFuture<Void> told;
        LeaseLostException known = null;
        session.await(lockedly(this::certainty));
        mutex.lock();
        try {
            int gone = holdings.removeLost(permits);
            int left = permits - gone;
            if (gone > 0) {
                known = holdings.loss();
            }
            told = left == 0 ? CompletableFuture.completedFuture(null) : releaseOwn(left);
        } finally {
            mutex.unlock();
        }
        session.await(told);
        if (known != null) {
            throw new LeaseLostException(known);
        }
    }

    // Who was stopped for longer than the lease hears of that only if it asks.
    private CompletableFuture<Void> certainty() {
        return holdings.valid() == 0 || session.isClosed() || remote.isValid()
                ? CompletableFuture.completedFuture(null)
                : remote.confirmed();
    }

    private CompletableFuture<Void> releaseOwn(int permits) {
        session.ensureOpen();
        int own = remote.isOwned() ? holdings.remove(permits) : permits;
        int excess = permits - own;
        CompletableFuture<Void> told = CompletableFuture.completedFuture(null);
        if (own > 0) {
            told = mayHandOff() && handOff(own) ? told : leave(own);
        }
        return excess > 0 ? remote.add(excess) : told;
    }

    // Permits that belong to nobody may be released by who was never granted them.
    private CompletableFuture<Void> leave(int permits) {
        if (remote.isOwned()) {
            return tell(permits, wanted);
        }
        grants.remove(permits);
        return remote.add(permits);
    }

    private boolean mayHandOff() {
        if (waiters.isEmpty() || failure != null || remote.isOverdrawn()) {
            return false;
        }
        return !remote.isContended()
                || (!fair && !grants.isOlder(session.now(), session.settings().handoffSliceNanos()));
    }

    private boolean handOff(int permits) {
        if (supply > Integer.MAX_VALUE - permits) {
            return false;
        }
        supply += permits;
        local.release(permits);
        evaluate();
        return true;
    }

    /** Gives back what a thread has got and can't use. */
    private void giveBack(int permits) {
        if (!session.isClosed()) {
            leave(permits);
        }
    }

    // ---- what asks the pool

    /** Acquires permits if there are any now, past all who wait. */
    public boolean tryAcquire(int permits) {
        Taking taking = new Taking();
        CompletableFuture<Boolean> answer;
        mutex.lock();
        try {
            ensureUsable();
            if (permits > 0 && takeFromStock(permits)) {
                return true;
            }
            answer = remote.take(permits);
            answer.thenAccept(taken -> arrive(taking, taken ? permits : 0));
            takings.add(taking);
        } finally {
            mutex.unlock();
        }
        return outcome(answer, taking) && !taking.stray;
    }

    private void arrive(Taking taking, int permits) {
        taking.arrived = permits;
        if (permits > 0) {
            grants.add(session.now(), permits);
        }
    }

    private <T> T outcome(CompletableFuture<T> answer, Taking taking) {
        session.await(answer);
        session.await(
                lockedly(() -> isCertain(taking) ? CompletableFuture.<Void>completedFuture(null) : remote.confirmed()));
        mutex.lock();
        try {
            takings.remove(taking);
            if (answer.cancel(false)) {
                session.ensureOpen();
                throw answers.unavailable();
            }
            if (answer.isCompletedExceptionally()) {
                throw answers.refusal(answer);
            }
            if (!isCertain(taking)) {
                giveBack(taking.arrived);
                throw answers.unavailable();
            }
            if (!taking.stray) {
                assign(taking.arrived);
            }
            return answer.join();
        } finally {
            mutex.unlock();
        }
    }

    /** Acquires all permits that there are. */
    public int drain() {
        Taking taking = new Taking();
        CompletableFuture<Integer> answer;
        int stock;
        mutex.lock();
        try {
            ensureUsable();
            stock = isValid(supply) ? local.drainPermits() : 0;
            supply -= stock;
            assign(stock);
            answer = remote.drain();
            answer.thenAccept(taken -> arrive(taking, Math.max(0, taken)));
            takings.add(taking);
        } finally {
            mutex.unlock();
        }
        boolean answered = false;
        try {
            int taken = outcome(answer, taking);
            answered = true;
            if (taken < 0) {
                return stock > 0 ? stock : taken;
            }
            return stock + (taking.stray ? 0 : taken);
        } finally {
            if (!answered && stock > 0 && !session.isClosed()) {
                release(stock);
            }
        }
    }

    /** Returns how many permits there are. */
    public int available() {
        CompletableFuture<Integer> answer;
        mutex.lock();
        try {
            ensureUsable();
            answer = remote.available()
                    .thenApply(pool -> Ints.saturatedCast((long) pool + (failure == null ? supply : 0)));
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
        ask(remote -> remote.resize(permits));
    }

    /** Makes sure that what is stated of the semaphore is so. */
    public void join() {
        ask(RemoteSemaphore::join);
    }

    private void ask(Function<RemoteSemaphore, CompletableFuture<Void>> question) {
        CompletableFuture<Void> answer = lockedly(() -> {
            session.ensureOpen();
            return question.apply(remote);
        });
        outcome(answer, new Taking());
    }

    /** Calls the listener when permits are lost that threads have. The result ends that. */
    public Runnable onLost(Consumer<? super LeaseLostException> listener) {
        return holdings.onLost(listener);
    }
}
