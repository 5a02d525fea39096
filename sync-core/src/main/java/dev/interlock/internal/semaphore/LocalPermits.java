package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.semaphore.Holdings.Release;
import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.semaphore.Operations.Operation.Verb;
import dev.interlock.internal.semaphore.SemaphoreEffect.Failure;
import dev.interlock.internal.semaphore.SemaphoreEffect.LookAgain;
import dev.interlock.internal.semaphore.SemaphoreEffect.Lost;
import dev.interlock.internal.semaphore.SemaphoreEffect.Result;
import dev.interlock.internal.semaphore.SemaphoreEffect.Unnoticed;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Need;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Taking;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import dev.interlock.internal.session.Effects;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The permits of a session, and what it wants of the pool. Events come in: threads, grants, losses, failures. Out come
 * what the pool is told, and the {@linkplain SemaphoreEffect effects} that the owner carries out after each event. The
 * permits that the superclass has are the <em>stock</em>: granted to the session, and taken by none of its threads yet.
 *
 * <p><b>Wants.</b> Permits are in the stock for an instant only. Those that don't serve the next waiter go back to the
 * pool, and the session asks there for all that this waiter needs at once: so two sessions never hold what each other
 * waits for. Each event that may change the next waiter (arrival, departure, a grant, a local hand-off) ends with
 * {@link #evaluate}.
 *
 * <p><b>Ownership.</b> A waiter takes from the stock without the mutex, and reports that under the mutex a moment
 * later. Until then it is still registered. {@link #supply} counts the stock and what such waiters have taken. Permits
 * that are owned may be lost in that moment: those that were taken and not reported are <em>stray</em>. Permits are all
 * alike, so the waiters that come out next are charged with the stray ones, and go back to wait.
 *
 * <p><b>Failure.</b> To let waiters out of the superclass's queue, they are given permits that don't exist. As long as
 * there are any, a waiter that comes out has acquired nothing, passes those permits on to the next one and throws; and
 * no other thread acquires any. When the last one is out, the stock is corrected.
 *
 * <p>All methods are called with the semaphore's mutex held.
 */
public final class LocalPermits {
    final String name;
    private final boolean owned;
    private final boolean fair;
    private final long sliceNanos;
    private final PermitStock stock;
    private final Pool pool;
    final SemaphoreWaiters waiters;
    private final PermitAges ages = new PermitAges();

    /** Those whose thread has yet to say that it has them, or goes without. */
    private final Deque<Taking> takings = new ArrayDeque<>();

    /** What threads have. */
    final Holdings holdings = new Holdings();

    /** Permits in the stock, or taken from it by waiters that are still registered. */
    private int supply;

    /** Of the supply: permits that don't exist. There are none without a {@link #failure}. */
    private int fake;

    /** Permits that were lost after waiters had taken them which are still registered; none if no thread waits. */
    private long stray;

    /** Whether the owner has been told to look at the order of waiters again. */
    private boolean lookingAgain;

    /** Since when no waiter has come out, if threads wait. */
    private long headSinceNanos;

    /** What waiters throw; null if none waits, or if they can be served. */
    private @Nullable Supplier<? extends RuntimeException> failure;

    /** The steps that the owner has yet to take. */
    public final Effects<SemaphoreEffect> effects = new Effects<>();

    /**
     * Creates what a session that has no permits knows.
     *
     * @param owned whether permits belong to the session that was granted them
     * @param fair whether threads of this session are served in the order in which they have come
     * @param sliceNanos for how long threads of this session may have permits that other sessions wait for
     */
    public LocalPermits(String name, boolean owned, boolean fair, long sliceNanos, PermitStock stock, Pool pool) {
        this.name = name;
        this.owned = owned;
        this.fair = fair;
        this.sliceNanos = sliceNanos;
        this.stock = stock;
        this.pool = pool;
        this.waiters = new SemaphoreWaiters(stock);
    }

    /** Returns whether threads wait for permits. */
    public boolean isWaiting() {
        return !waiters.isEmpty();
    }

    /** Returns whether nobody waits for permits, as far as is known. */
    boolean isQuiet() {
        return !pool.isContended() && waiters.isEmpty();
    }

    /**
     * Returns whether the permits that the only waiter wants are likely to come with the next answer. A thread of a
     * fair semaphore has to queue at once instead, since others may come.
     */
    boolean isAboutToGrant(Waiter waiter) {
        return !fair && !pool.isContended() && waiters.size() == 1 && pool.mayHave(waiter.permits);
    }

    // ---- wants

    /** Tells the pool what the next waiter needs, and gives back what serves none. */
    private void evaluate() {
        assert isConsistent() : stock.availablePermits() + " of " + supply + ", " + fake + ", " + stray;
        if (failure != null) {
            return;
        }
        Need need = waiters.need(supply);
        int back = need.surplus();
        boolean taken = back > 0 && stock.tryAcquire(back);
        if (taken) {
            supply -= back;
            ages.remove(back);
            pool.giveBack(back);
        }
        pool.want(need.permits());
        // Threads register before they park, so that for a moment it isn't known which one is the next.
        if (!lookingAgain && (!need.certain() || (back > 0 && !taken))) {
            lookingAgain = true;
            effects.add(new LookAgain());
        }
    }

    // Other threads only take from the stock, and report that later.
    private boolean isConsistent() {
        return stock.availablePermits() <= supply
                && fake >= 0
                && fake <= supply
                && stray >= 0
                && (fake == 0 || failure != null);
    }

    /** A moment has passed: the order of waiters may be known by now. */
    public void lookAgain() {
        lookingAgain = false;
        evaluate();
    }

    /** So many more permits, 1 at least, were granted because the session wants them. */
    public void granted(int permits, long now) {
        if (failure != null) {
            // Nobody waits for them any more; beside those that don't exist they might be too many for the stock.
            pool.giveBack(permits);
            return;
        }
        ages.add(now, permits);
        supply += permits;
        stock.release(permits);
        evaluate();
    }

    // ---- failure and loss

    /**
     * Threads that wait now can't be served: the session is closed, Redis has been silent for too long or refuses.
     *
     * @param reason makes what each of them throws
     */
    public void failed(Supplier<? extends RuntimeException> reason) {
        if (!waiters.isEmpty()) {
            failure = reason;
            pool.want(0);
            letOut();
        }
    }

    // Those that a waiter has taken come back to the stock when it comes out.
    private void letOut() {
        int lacking = waiters.most() - supply;
        if (lacking > 0) {
            fake += lacking;
            supply += lacking;
            stock.release(lacking);
        }
    }

    /** A waiter has left. */
    private void settle() {
        if (waiters.isEmpty()) {
            stray = 0;
            if (failure != null) {
                failure = null;
                stock.drainPermits();
                supply -= fake;
                fake = 0;
                stock.release(supply);
            }
            evaluate();
        } else if (failure != null) {
            letOut();
        } else {
            evaluate();
        }
    }

    /**
     * The session has lost all permits that it was granted, and permits are owned.
     *
     * @param reason what was seen, for people
     * @param releasing releases that come too late: what they release is lost as well
     */
    void lost(String reason, List<Release> releasing) {
        if (failure == null) {
            stray += supply - stock.drainPermits();
            supply = 0;
        } else {
            fake = supply;
        }
        for (Taking taking : takings) {
            taking.stray |= taking.arrived > 0;
        }
        ages.clear();
        LeaseLostException loss = holdings.lose(name, reason, releasing);
        if (loss != null) {
            effects.add(new Lost(loss));
        }
        LeaseLostException unnoticed = Holdings.unnoticed(name, reason, releasing);
        if (unnoticed != null) {
            effects.add(new Unnoticed(unnoticed));
        }
        evaluate();
    }

    // ---- waiters

    /** A thread comes. Returns whether it has acquired permits; if not, it is about to wait in the superclass. */
    boolean come(Waiter waiter, long now) {
        throwIfFailed();
        boolean mayBarge = waiters.isEmpty() || (!fair && now - headSinceNanos < sliceNanos);
        if (mayBarge && takeFromStock(waiter.permits, now)) {
            return true;
        }
        register(waiter, now);
        return false;
    }

    /** Throws what waiters throw, if they can't be served. */
    void throwIfFailed() {
        Supplier<? extends RuntimeException> known = failure;
        if (known != null) {
            throw known.get();
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
     * The thread has left the superclass's queue, with its permits or without. Returns whether they are its own, once
     * they {@linkplain #isCertain are certain}. A thread that has taken some without acquiring them is still
     * registered.
     */
    boolean comeOut(Waiter waiter, boolean taken, long now) {
        if (!taken) {
            withdraw(waiter);
            return false;
        }
        if (failure != null) {
            Supplier<? extends RuntimeException> known = failure;
            stock.release(waiter.permits);
            withdraw(waiter);
            throw known.get();
        }
        int gone = (int) Math.min(stray, waiter.permits);
        if (gone > 0) {
            stray -= gone;
            stock.release(waiter.permits - gone);
            evaluate();
            return false;
        }
        supply -= waiter.permits;
        waiters.remove(waiter);
        headSinceNanos = now;
        if (isValid(waiter.permits, now)) {
            assign(waiter.permits);
        } else {
            waiter.arrived = waiter.permits;
            takings.add(waiter);
        }
        settle();
        return true;
    }

    /** The thread doesn't wait any more, for whatever reason. */
    void withdraw(Waiter waiter) {
        if (waiters.remove(waiter)) {
            settle();
        }
    }

    /**
     * It is known whether the permits with which the thread has come out are still the session's, or the thread gives
     * up. Returns whether it has acquired them. If they are lost, it is registered again.
     */
    boolean confirm(Waiter waiter, boolean confirmed, long now) {
        takings.remove(waiter);
        boolean isStray = waiter.stray;
        if (isStray) {
            register(waiter, now);
        } else if (confirmed) {
            assign(waiter.arrived);
        } else {
            leave(waiter.arrived);
        }
        waiter.arrived = 0;
        waiter.stray = false;
        return confirmed && !isStray;
    }

    // ---- takings past all waiters

    /** Takes permits from the stock, past all waiters. */
    private boolean takeFromStock(int permits, long now) {
        if (permits > supply || !isValid(permits, now) || !stock.tryAcquire(permits)) {
            return false;
        }
        supply -= permits;
        assign(permits);
        if (!waiters.isEmpty()) {
            evaluate();
        }
        return true;
    }

    /** A thread takes permits from the stock; if they aren't there it asks the pool, and the operation is returned. */
    @Nullable
    Operation tryAcquire(int permits, long now) {
        throwIfFailed();
        return permits > 0 && takeFromStock(permits, now) ? null : operate(Verb.TAKE, permits);
    }

    /** The same past nobody that waits, if threads are served in their order. */
    @Nullable
    Operation tryAcquireInTurn(int permits, long now) {
        if (!fair) {
            return tryAcquire(permits, now);
        }
        throwIfFailed();
        if (waiters.isEmpty()) {
            return operate(Verb.TAKE_IN_TURN, permits);
        }
        Operation refused = new Operation(Verb.TAKE_IN_TURN, permits);
        done(refused, -1, now);
        return refused;
    }

    /** A thread takes all of the stock, and asks for all that the pool has. */
    Operation drain(long now) {
        throwIfFailed();
        int drained = isValid(supply, now) ? stock.drainPermits() : 0;
        supply -= drained;
        assign(drained);
        Operation operation = operate(Verb.DRAIN, 0);
        operation.fromStock = drained;
        // A waiter may have been woken for permits of the stock that are drained now.
        evaluate();
        return operation;
    }

    /** A thread asks how many permits there are. */
    Operation look() {
        throwIfFailed();
        return operate(Verb.LOOK, 0);
    }

    /** A thread asks for what is done once. */
    Operation operate(Verb verb, int amount) {
        Operation operation = new Operation(verb, amount);
        takings.add(operation);
        pool.operate(operation);
        return operation;
    }

    /**
     * The pool has answered; if it was asked how many permits it has, those of the session that no thread has count,
     * too. Returns whether a thread still waits for the answer.
     */
    public boolean done(Operation operation, long result, long now) {
        long own = operation.verb == Verb.LOOK && failure == null ? supply : 0;
        if (!operation.end()) {
            return false;
        }
        effects.add(new Result(operation, Ints.saturatedCast(result + own)));
        operation.arrived = operation.brought(result);
        if (operation.arrived > 0) {
            ages.add(now, operation.arrived);
        }
        return true;
    }

    /** An operation isn't done, or nobody knows whether it is: its thread hears why. */
    public void fail(Operation operation, Throwable cause) {
        if (operation.end()) {
            effects.add(new Failure(operation, cause));
        }
    }

    /**
     * The thread gets what has arrived, unless that was lost. Returns whether it is known: if there is no answer, or
     * what it brought is uncertain, that goes back.
     */
    boolean end(Operation operation, long now) {
        takings.remove(operation);
        boolean isAnswered = !operation.end();
        boolean isCertain = isCertain(operation, now);
        if (!isCertain) {
            leave(operation.arrived);
        } else if (!operation.stray) {
            assign(operation.arrived);
        }
        return isAnswered && isCertain;
    }

    /** Returns whether it is known whether the permits that have arrived are the session's. */
    boolean isCertain(Taking taking, long now) {
        return taking.stray || isValid(taking.arrived, now);
    }

    private boolean isValid(int permits, long now) {
        return permits == 0 || pool.isValid(now);
    }

    private void assign(int permits) {
        if (owned) {
            holdings.add(permits);
        }
    }

    // ---- release

    /** Returns whether threads have permits, and it isn't known whether these are the session's. */
    boolean isUncertain(long now) {
        return holdings.valid() > 0 && !pool.isValid(now);
    }

    /** Returns whether so many released permits would be too many for the pool, as far as is known. */
    boolean exceeds(int permits) {
        long left = permits - Math.min(permits, holdings.lost());
        long own = owned ? holdings.valid() : 0;
        return left > own && !pool.fits(left);
    }

    /** Returns whether the pool would have too few permits if it had so many less, as far as is known. */
    boolean underflows(int permits) {
        return !pool.fits(-(long) permits);
    }

    /**
     * A thread releases permits. Lost ones come first, and free nothing; those that the session doesn't have enlarge
     * the pool.
     */
    Release release(int permits, long now) {
        if (isUncertain(now)) {
            pool.endLease(now);
        }
        Release release = new Release(!isUncertain(now));
        int left = permits - holdings.removeLost(permits, release);
        int own = owned ? holdings.remove(left) : left;
        if (own > 0 && !(mayHandOff(now) && handOff(own))) {
            long sum = leave(own);
            if (owned) {
                holdings.released(release, own, sum);
            }
        }
        if (left > own) {
            pool.add(left - own);
        }
        return release;
    }

    /** A thread takes permits out of the pool, even if there are none. */
    void reduce(int permits) {
        if (permits > 0) {
            pool.add(-permits);
        }
    }

    private boolean mayHandOff(long now) {
        if (waiters.isEmpty() || failure != null || pool.isOverdrawn()) {
            return false;
        }
        return !pool.isContended() || (!fair && !ages.isOlder(now, sliceNanos));
    }

    private boolean handOff(int permits) {
        if (supply > Integer.MAX_VALUE - permits) {
            return false;
        }
        supply += permits;
        stock.release(permits);
        evaluate();
        return true;
    }

    private long leave(int permits) {
        ages.remove(permits);
        if (owned) {
            return pool.giveBack(permits);
        }
        // Threads may release permits that they were never granted, if permits belong to nobody.
        pool.add(permits);
        return 0;
    }
}
