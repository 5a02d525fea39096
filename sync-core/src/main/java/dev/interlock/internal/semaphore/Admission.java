package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.ScriptRunner;
import dev.interlock.internal.Session;
import dev.interlock.internal.semaphore.Waiters.Demand;
import dev.interlock.internal.semaphore.Waiters.Waiter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How the threads of a session get permits and give them back. They wait in the superclass, where a grant of the remote half
 * wakes them: the superclass's permits are the <em>stock</em>, permits of the session that no thread has.
 *
 * <p><b>What is wanted.</b> Stock is there for an instant only. What doesn't serve the next waiter goes back to the pool, and the
 * session wants there what that waiter needs, all at once: so two sessions never hold what each other waits for. Whatever may
 * change the next waiter (arrival, departure, a grant, a local hand-off) has {@link #evaluate} called.
 *
 * <p><b>Who has what.</b> A waiter takes from the stock without the mutex, and says so under it a moment later. Until then it is
 * still registered. {@link #supply} counts the stock and what such waiters have taken. Permits that are owned may be lost in
 * that moment: those that were taken but not said are <em>stray</em>. Permits are all alike, so whichever waiters come out
 * next are told that these are the stray ones, and go back to wait.
 *
 * <p><b>Failing.</b> To get waiters out of the superclass's queue, they are given permits that don't exist. While any of them is
 * there, whoever comes out has acquired nothing, gives those permits to the next one and throws; and nobody else gets in. When
 * the last one is out, the stock is set right.
 */
public final class Admission implements RemoteSemaphore.Recipient {
    private static final long FOREVER = Long.MAX_VALUE;
    private static final long LOOK_AGAIN_MILLIS = 1;
    private static final long GLANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Session session;
    private final LocalStock local;
    private final RemoteSemaphore remote;
    private final ReentrantLock mutex;
    private final boolean fair;
    private final Waiters waiters = new Waiters();
    private final Grants grants = new Grants();
    private final Deque<Taking> takings = new ArrayDeque<>();
    private final List<Consumer<? super LeaseLostException>> lossListeners = new CopyOnWriteArrayList<>();

    /** Permits in the stock, or taken from it by waiters that are still registered. */
    private int supply;

    /** Of the supply: permits that don't exist. */
    private int fake;

    /** Permits that threads have, if they are owned. */
    private long assigned;

    /** Permits that were lost after waiters had taken them which are still registered. */
    private long stray;

    /** Permits that were lost while threads had them, which haven't released them yet. */
    private long lost;

    private @Nullable LeaseLostException loss;

    private int wanted;

    /** Since when nobody has come out who was waiting. */
    private long headSinceNanos;

    private boolean lookingAgain;

    /** What waiters are to throw. */
    private @Nullable Supplier<? extends RuntimeException> failure;

    /** Permits on their way to a thread that waits neither here nor in the queue of the pool. */
    static final class Taking {
        int arrived;
        boolean stray;
    }

    /** Joins the two halves. */
    public Admission(
            Session session,
            LocalStock local,
            boolean fair,
            Function<RemoteSemaphore.Recipient, RemoteSemaphore> remote) {
        this.session = session;
        this.local = local;
        this.fair = fair;
        this.remote = remote.apply(this);
        this.mutex = this.remote.mutex();
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

    /** Acquires permits if that becomes possible within the wait; one of zero or less asks once, and doesn't barge if this is fair. */
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
                    throwIfSilent();
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
            assigned += permits;
        }
    }

    private void register(Waiter waiter, long now) {
        if (waiters.isEmpty()) {
            headSinceNanos = now;
        }
        waiters.add(waiter);
        evaluate();
    }

    /**
     * The thread has left the superclass's queue, with its permits or without. Returns whether it has acquired them. If not though
     * it had taken some it is still registered.
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
     * Makes sure that what the thread has come out with is still the session's. If it isn't, the thread is registered again. Also
     * if this throws, the thread has none of it.
     */
    private boolean confirm(Waiter waiter, boolean interruptible, long waitNanos, long start)
            throws InterruptedException {
        Taking taking = waiter.taking;
        if (taking == null) {
            return true;
        }
        boolean confirmed = false;
        try {
            CompletableFuture<Void> answer = lockedly(remote::confirmed);
            awaitAnswer(answer, interruptible, waitNanos, start);
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

    private <T> T lockedly(Supplier<T> action) {
        mutex.lock();
        try {
            return action.get();
        } finally {
            mutex.unlock();
        }
    }

    // Waits in slices, since nobody wakes it when the session is closed or Redis has been silent for too long.
    private void awaitAnswer(CompletableFuture<Void> answer, boolean interruptible, long waitNanos, long start)
            throws InterruptedException {
        Thread waiting = Thread.currentThread();
        answer.whenComplete((done, thrown) -> LockSupport.unpark(waiting));
        boolean interrupted = false;
        try {
            while (!answer.isDone()) {
                session.ensureOpen();
                if (Thread.interrupted()) {
                    if (interruptible) {
                        throw new InterruptedException();
                    }
                    interrupted = true;
                }
                long left = waitNanos == FOREVER ? FOREVER : waitNanos - (session.now() - start);
                if (left <= 0 || session.outage().isTooLong()) {
                    throw unavailable(session.outage().cause());
                }
                LockSupport.parkNanos(this, Math.min(left, GLANCE_NANOS));
            }
            if (answer.isCompletedExceptionally()) {
                throw refusal(answer);
            }
        } finally {
            if (interrupted) {
                waiting.interrupt();
            }
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

    private void throwIfSilent() {
        session.ensureOpen();
        if (session.outage().isActive()) {
            throw unavailable(session.outage().cause());
        }
    }

    private RedisUnavailableException unavailable(@Nullable Throwable cause) {
        return new RedisUnavailableException("Redis has not answered for semaphore '" + remote.name() + "'", cause);
    }

    // ---- what is wanted

    /** Has the pool know what the next waiter needs, and gives it what serves nobody. */
    private void evaluate() {
        if (failure != null) {
            return;
        }
        int back;
        int need;
        if (waiters.isEmpty()) {
            back = supply;
            need = 0;
        } else if (waiters.isUniform()) {
            int each = waiters.any();
            long all = (long) waiters.size() * each;
            need = all > supply ? each : 0;
            back = all > supply ? supply % each : Ints.saturatedCast(supply - all);
        } else {
            Demand demand = waiters.demand(local.queuedThreads(), local.availablePermits(), supply);
            need = demand.needed();
            back = demand.surplus();
            if (!demand.certain()) {
                lookAgain();
            }
        }
        if (back > 0 && !local.tryAcquire(back)) {
            back = 0;
            lookAgain();
        }
        supply -= back;
        tell(back, need);
    }

    private CompletableFuture<Void> tell(int back, int need) {
        wanted = need;
        grants.remove(back);
        return remote.tell(back, need);
    }

    // Threads register before they park, so that for a moment it isn't known who is the next.
    private void lookAgain() {
        if (!lookingAgain) {
            lookingAgain = true;
            session.schedule(
                    () -> {
                        mutex.lock();
                        try {
                            lookingAgain = false;
                            evaluate();
                        } finally {
                            mutex.unlock();
                        }
                    },
                    LOOK_AGAIN_MILLIS);
        }
    }

    @Override
    public void granted(int permits) {
        grants.add(session.now(), permits);
        supply += permits;
        local.release(permits);
        evaluate();
    }

    @Override
    public boolean isWaiting() {
        return !waiters.isEmpty();
    }

    @Override
    public boolean isHeld() {
        return assigned + lost > 0;
    }

    // ---- failing

    @Override
    public void failed(Supplier<? extends RuntimeException> reason) {
        if (!waiters.isEmpty()) {
            failure = reason;
            tell(0, 0);
            letOut();
        }
    }

    /** Somebody has left. */
    private void settle() {
        if (waiters.isEmpty()) {
            stray = 0;
            if (failure != null) {
                failure = null;
                local.drainPermits();
                supply -= fake;
                fake = 0;
                local.release(supply);
            }
            evaluate();
        } else if (failure != null) {
            letOut();
        } else {
            evaluate();
        }
    }

    private void letOut() {
        int lacking = waiters.most() - local.availablePermits();
        if (lacking > 0) {
            fake += lacking;
            supply += lacking;
            local.release(lacking);
        }
    }

    @Override
    public void lost(String reason) {
        if (failure == null) {
            int stock = local.drainPermits();
            stray += supply - stock;
            supply = 0;
        } else {
            fake = supply;
        }
        for (Taking taking : takings) {
            taking.stray |= taking.arrived > 0;
        }
        grants.clear();
        if (assigned > 0) {
            LeaseLostException news = LeaseLostException.ofPermits(remote.name(), assigned, reason);
            loss = news;
            lost += assigned;
            assigned = 0;
            session.reportLoss(news, lossListeners);
        }
        evaluate();
    }

    // ---- release

    /** Gives permits back: to the next waiter, or to the pool. More than were acquired enlarge the pool. */
    public void release(int permits) {
        CompletableFuture<Void> told;
        LeaseLostException known = null;
        session.await(lockedly(this::certainty));
        mutex.lock();
        try {
            int left = permits;
            int gone = (int) Math.min(lost, permits);
            if (gone > 0) {
                lost -= gone;
                left -= gone;
                known = loss;
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
        return assigned == 0 || session.isClosed() || remote.isValid()
                ? CompletableFuture.completedFuture(null)
                : remote.confirmed();
    }

    private CompletableFuture<Void> releaseOwn(int permits) {
        session.ensureOpen();
        int own = remote.isOwned() ? (int) Math.min(assigned, permits) : permits;
        int excess = permits - own;
        if (remote.isOwned()) {
            assigned -= own;
        }
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
        mutex.lock();
        try {
            takings.remove(taking);
            if (answer.cancel(false)) {
                session.ensureOpen();
                throw unavailable(session.outage().cause());
            }
            if (answer.isCompletedExceptionally()) {
                throw refusal(answer);
            }
            if (!taking.stray) {
                assign(taking.arrived);
            }
            return answer.join();
        } finally {
            mutex.unlock();
        }
    }

    private RuntimeException refusal(CompletableFuture<?> refused) {
        Throwable cause =
                ScriptRunner.cause(refused.handle((result, thrown) -> thrown).join());
        return cause instanceof IllegalArgumentException || cause instanceof UnsupportedOperationException
                ? (RuntimeException) cause
                : new IllegalStateException("Redis refuses semaphore '" + remote.name() + "'", cause);
    }

    /** Acquires all permits that there are. */
    public int drain() {
        Taking taking = new Taking();
        CompletableFuture<Integer> answer;
        int stock;
        mutex.lock();
        try {
            ensureUsable();
            stock = local.drainPermits();
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
        lossListeners.add(listener);
        return () -> lossListeners.remove(listener);
    }
}
