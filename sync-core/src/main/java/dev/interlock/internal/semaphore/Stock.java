package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import dev.interlock.internal.semaphore.Waiters.Demand;
import dev.interlock.internal.session.Session;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The permits of a session that no thread has, and what the session wants of the pool: the superclass's permits are the
 * <em>stock</em>.
 *
 * <p><b>What is wanted.</b> Stock is there for an instant only. What doesn't serve the next waiter goes back to the
 * pool, and the session wants there what that waiter needs, all at once: so two sessions never hold what each other
 * waits for. Whatever may change the next waiter (arrival, departure, a grant, a local hand-off) has {@link #evaluate}
 * called.
 *
 * <p><b>Who has what.</b> A waiter takes from the stock without the mutex, and says so under it a moment later. Until
 * then it is still registered. {@link #supply} counts the stock and what such waiters have taken. Permits that are
 * owned may be lost in that moment: those that were taken but not said are <em>stray</em>. Permits are all alike, so
 * whichever waiters come out next are told that these are the stray ones, and go back to wait.
 *
 * <p><b>Failing.</b> To get waiters out of the superclass's queue, they are given permits that don't exist. While any
 * of them is there, whoever comes out has acquired nothing, gives those permits to the next one and throws; and nobody
 * else gets in. When the last one is out, the stock is set right.
 */
abstract class Stock implements RemoteSemaphore.Recipient {
    private static final long LOOK_AGAIN_MILLIS = 1;

    final Session session;
    final LocalSemaphore local;
    final RemoteSemaphore remote;
    final ReentrantLock mutex;
    final Waiters waiters = new Waiters();
    final Grants grants = new Grants();
    final Deque<Taking> takings = new ArrayDeque<>();
    final Holdings holdings;

    /** Permits in the stock, or taken from it by waiters that are still registered. */
    int supply;

    /** Of the supply: permits that don't exist. */
    private int fake;

    /** Permits that were lost after waiters had taken them which are still registered. */
    long stray;

    int wanted;

    private boolean lookingAgain;

    /** What waiters are to throw. */
    @Nullable
    Supplier<? extends RuntimeException> failure;

    /** Permits on their way to a thread that waits neither here nor in the queue of the pool. */
    static final class Taking {
        int arrived;
        boolean stray;
    }

    Stock(Session session, LocalSemaphore local, Function<RemoteSemaphore.Recipient, RemoteSemaphore> remote) {
        this.session = session;
        this.local = local;
        this.remote = remote.apply(this);
        this.mutex = this.remote.mutex();
        this.holdings = new Holdings(session, this.remote.name());
    }

    // ---- what is wanted

    /** Has the pool know what the next waiter needs, and gives it what serves nobody. */
    void evaluate() {
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

    CompletableFuture<Void> tell(int back, int need) {
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
        return !holdings.isEmpty();
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
    void settle() {
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
        holdings.lose(reason);
        evaluate();
    }
}
