package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.Locked;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Need;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import dev.interlock.internal.session.Session;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The permits of a session, and what it wants of the pool. The permits that the superclass has are the <em>stock</em>:
 * granted to the session, and taken by none of its threads yet.
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
 * <p>All methods are called with the semaphore's mutex held, except {@link #remote}.
 */
final class LocalPermits implements RemoteSemaphore.Recipient {
    private static final long LOOK_AGAIN_MILLIS = 1;

    private final Session session;
    private final LocalSemaphore local;
    private final RemoteSemaphore remote;
    private final boolean fair;
    private final SemaphoreWaiters waiters;
    private final PermitAges ages = new PermitAges();
    private final Deque<Taking> takings = new ArrayDeque<>();
    final Holdings holdings;

    /** Permits in the stock, or taken from it by waiters that are still registered. */
    private int supply;

    /** Of the supply: permits that don't exist. */
    private int fake;

    /** Permits that were lost after waiters had taken them which are still registered. */
    private long stray;

    private int wanted;
    private boolean lookingAgain;

    /** Since when no waiter has come out. */
    private long headSinceNanos;

    /** What waiters throw. */
    private @Nullable Supplier<? extends RuntimeException> failure;

    /**
     * The outcome of a release.
     *
     * @param confirmed completes when Redis has confirmed it, if it had to be told
     * @param loss why some of the permits were lost before, if any were
     */
    record Released(
            CompletableFuture<Void> confirmed, @Nullable LeaseLostException loss) {}

    LocalPermits(Session session, LocalSemaphore local, boolean fair, RemoteSemaphore.Factory remote) {
        this.session = session;
        this.local = local;
        this.fair = fair;
        this.waiters = new SemaphoreWaiters(local);
        this.remote = remote.create(this);
        this.holdings = new Holdings(session, this.remote.name());
    }

    RemoteSemaphore remote() {
        return remote;
    }

    // ---- wants

    /** Tells the pool what the next waiter needs, and gives back what serves none. */
    private void evaluate() {
        if (failure != null) {
            return;
        }
        Need need = waiters.need(supply);
        if (!need.certain()) {
            lookAgain();
        }
        int back = need.surplus();
        if (back > 0 && !local.tryAcquire(back)) {
            back = 0;
            lookAgain();
        }
        supply -= back;
        tell(back, need.permits());
    }

    private CompletableFuture<Void> tell(int back, int need) {
        wanted = need;
        ages.remove(back);
        return remote.tell(back, need);
    }

    // Threads register before they park, so that for a moment it isn't known which one is the next.
    private void lookAgain() {
        if (!lookingAgain) {
            lookingAgain = true;
            var locked = new Locked<>(remote.mutex(), this);
            session.schedule(() -> locked.run(LocalPermits::evaluateAgain), LOOK_AGAIN_MILLIS);
        }
    }

    private void evaluateAgain() {
        lookingAgain = false;
        evaluate();
    }

    @Override
    public void granted(int permits) {
        ages.add(session.now(), permits);
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

    // ---- failure and loss

    @Override
    public void failed(Supplier<? extends RuntimeException> reason) {
        if (!waiters.isEmpty()) {
            failure = reason;
            tell(0, 0);
            letOut();
        }
    }

    /** A waiter has left. */
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
        ages.clear();
        holdings.lose(reason);
        evaluate();
    }

    /** Calls the listener when permits are lost that threads have. The result ends that. */
    Runnable onLost(Consumer<? super LeaseLostException> listener) {
        return holdings.onLost(listener);
    }

    // ---- acquire

    /** Throws what waiters throw, if they can't be served. */
    void throwIfFailed() {
        Supplier<? extends RuntimeException> known = failure;
        if (known != null) {
            throw known.get();
        }
    }

    /** Returns whether threads, or other sessions, wait for permits. */
    boolean isAwaited() {
        return !waiters.isEmpty() || remote.isContended();
    }

    /** Takes permits from the stock, unless the thread has to queue behind others. */
    boolean takeInTurn(int permits, long now) {
        boolean mayBarge = waiters.isEmpty()
                || (!fair && now - headSinceNanos < session.settings().handoffSliceNanos());
        return mayBarge && takeFromStock(permits);
    }

    /** Takes permits from the stock, past all waiters. */
    boolean takeFromStock(int permits) {
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

    /** Takes all of the stock. Returns how many permits that are. */
    int drainStock() {
        int stock = isValid(supply) ? local.drainPermits() : 0;
        supply -= stock;
        assign(stock);
        return stock;
    }

    /** Asks for the permits of the pool, and adds those of the session that no thread has. */
    CompletableFuture<Integer> available() {
        return remote.available().thenApply(pool -> Ints.saturatedCast((long) pool + (failure == null ? supply : 0)));
    }

    private boolean isValid(int permits) {
        return permits == 0 || remote.isValid();
    }

    private void assign(int permits) {
        if (remote.isOwned()) {
            holdings.add(permits);
        }
    }

    /** A thread is about to wait in the superclass. */
    void register(Waiter waiter, long now) {
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
     * The thread has left the superclass's queue, with its permits or without. Returns whether it has acquired them. A
     * thread that has taken some without acquiring them is still registered.
     */
    boolean comeOut(Waiter waiter, boolean taken) {
        if (!taken) {
            withdraw(waiter);
            return false;
        }
        Supplier<? extends RuntimeException> known = failure;
        if (known != null) {
            local.release(waiter.permits);
            withdraw(waiter);
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
            Taking taking = new Taking();
            taking.arrived = waiter.permits;
            takings.add(taking);
            waiter.taking = taking;
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

    // ---- permits on their way to a thread

    /** Asks the pool for permits that it has now. */
    CompletableFuture<Integer> take(int permits, Taking taking) {
        return begin(taking, remote.take(permits));
    }

    /** Asks the pool for all permits that it has now. */
    CompletableFuture<Integer> drain(Taking taking) {
        CompletableFuture<Integer> answer = begin(taking, remote.drain());
        // A waiter may have been woken for permits of the stock that are drained now.
        evaluate();
        return answer;
    }

    private CompletableFuture<Integer> begin(Taking taking, CompletableFuture<Integer> answer) {
        answer.thenAccept(taken -> arrive(taking, Math.max(0, taken)));
        takings.add(taking);
        return answer;
    }

    private void arrive(Taking taking, int permits) {
        taking.arrived = permits;
        if (permits > 0) {
            ages.add(session.now(), permits);
        }
    }

    /** Returns whether it is known whether the permits that have arrived are the session's. */
    boolean isCertain(Taking taking) {
        return taking.stray || isValid(taking.arrived);
    }

    /** These permits are not on their way any more. */
    void end(Taking taking) {
        takings.remove(taking);
    }

    /** The thread gets what has arrived, unless that is stray. */
    void assign(Taking taking) {
        if (!taking.stray) {
            assign(taking.arrived);
        }
    }

    /** Gives back permits that a thread has got and can't use. */
    void giveBack(Taking taking) {
        if (!session.isClosed()) {
            leave(taking.arrived);
        }
    }

    // ---- release

    /** Asks Redis whether threads still have their permits, if they have any and that isn't known. */
    CompletableFuture<Void> certainty() {
        return holdings.valid() == 0 || session.isClosed() || remote.isValid()
                ? CompletableFuture.completedFuture(null)
                : remote.confirmed();
    }

    /** A thread releases permits: first those that were lost. */
    Released release(int permits) {
        int gone = holdings.removeLost(permits);
        LeaseLostException loss = gone > 0 ? holdings.loss() : null;
        int left = permits - gone;
        return new Released(left == 0 ? CompletableFuture.completedFuture(null) : releaseOwn(left), loss);
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

    // Threads may release permits that they were never granted, if permits belong to nobody.
    private CompletableFuture<Void> leave(int permits) {
        if (remote.isOwned()) {
            return tell(permits, wanted);
        }
        ages.remove(permits);
        return remote.add(permits);
    }

    private boolean mayHandOff() {
        if (waiters.isEmpty() || failure != null || remote.isOverdrawn()) {
            return false;
        }
        return !remote.isContended()
                || (!fair && !ages.isOlder(session.now(), session.settings().handoffSliceNanos()));
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
}
