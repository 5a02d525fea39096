package dev.interlock.internal.lock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.LeaseLostException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The local half of a lock, which goes on being usable when the remote half is lost.
 *
 * <p><b>Retirement.</b> Threads take the <em>current</em> half, at first the superclass of the lock. Only the thread
 * that holds a JDK lock can release it; so if the remote half is lost while a thread is inside, the current half is
 * <em>retired</em>, and a spare one takes its place. The thread keeps what it holds of the retired half, which excludes
 * nobody any more, until it unlocks; its calls find the {@linkplain #loss loss}. The superclass becomes the current
 * half again as soon as no thread holds either.
 *
 * <p><b>Invariants.</b> A thread that has taken a half looks whether that is still the current one, and else gives it
 * back and takes the other. It looks again before it enters without asking Redis, after it has seen the tenure on which
 * it would; and before it asks, by {@link #confirm}. For a half may be retired in the moment in which the thread that
 * was inside has left it to the next one. A thread is inside by at most one half, and holds no second one.
 *
 * <p><b>Slices.</b> Nothing can wake a thread that is queued behind one that never unlocks. So a thread waits in slices
 * and looks, after each, whether its half was retired. To end a slice takes the longer the more threads wait, since the
 * JDK looks for the thread in its queue; so slices are longer then, and few end at a time. A slice that ends costs the
 * thread its place in that queue. So the threads that wait for a fair lock are listed from the beginning, and a thread
 * that gets the half gives it back if one that began to wait earlier is listed. Of a lock that isn't fair but can be
 * shared, those are listed that wait for the whole, and threads that share the half leave it to them.
 *
 * @param <H> the kind of half
 */
public class Halves<H extends LocalLock> implements LocalLock {
    /** In place of a time: for as long as it takes. */
    private static final long FOREVER = Long.MAX_VALUE;

    private static final long LEAST_SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** By how much a slice is longer for each thread that waits. */
    private static final long MORE_SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /**
     * Threads that begin to wait no further apart don't leave the half to each other. One that gives it back goes to
     * the end of the queue, and so do all between the two.
     */
    private static final long NEIGHBOURS_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final Way<LocalLock> WHOLE = new Whole();

    /** How a thread takes a half: the whole of it, or a share. */
    interface Way<H> {
        default boolean isShared() {
            return false;
        }

        /** Takes it if that is possible now; always if the thread has it already, or the whole of it. */
        boolean takeAtOnce(H half);

        boolean take(H half, long waitNanos) throws InterruptedException;

        void giveBack(H half);
    }

    /** A half that a thread held when the lock was lost. */
    private record Retired<H>(H half, LeaseLostException loss) {}

    /** A thread that is listed. */
    private static final class Listed<H> {
        /** The half for which it is queued, or is about to be queued again. */
        private volatile H half;

        private final boolean isShared;
        private final long begunNanos;

        Listed(H half, boolean isShared, long begunNanos) {
            this.half = half;
            this.isShared = isShared;
            this.begunNanos = begunNanos;
        }
    }

    private final H home;
    private final boolean fair;
    private final boolean isShareable;
    private final Supplier<? extends H> spares;
    private final LongSupplier clock;

    /** How many threads wait. */
    private final AtomicInteger waiting = new AtomicInteger();

    private volatile H current;

    /**
     * Those that are still held, as far as that is known; null if there are none, so that a call usually reads one
     * field. Written with this object's monitor held.
     */
    private volatile @Nullable List<Retired<H>> retired;

    /** The threads that are listed, the first one first. Made when there is one. */
    private volatile @Nullable Queue<Listed<H>> listed;

    /**
     * Creates it.
     *
     * @param home the superclass of the lock
     * @param fair whether that is fair
     * @param spares makes halves that take its place
     * @param clock tells real time, in nanoseconds
     */
    public Halves(H home, boolean fair, Supplier<? extends H> spares, LongSupplier clock) {
        this.home = home;
        this.fair = fair;
        this.isShareable = home instanceof LocalReadWriteLock;
        this.spares = spares;
        this.clock = clock;
        this.current = home;
    }

    // ---- loss

    /**
     * Retires the current half if a thread is inside by it.
     *
     * @param isInside whether a thread is inside that has lost the lock, as far as others than that thread can see
     */
    public final synchronized void retire(LeaseLostException loss, BooleanSupplier isInside) {
        if (isInside.getAsBoolean()) {
            // In this order: a thread that sees the new half sees which one was retired.
            setRetired(Stream.concat(retired(), Stream.of(new Retired<>(current, loss)))
                    .filter(Halves::isStillHeld));
            current = spares.get();
        }
    }

    /** Returns the loss of the lock that the current thread holds, or null. */
    public final @Nullable LeaseLostException loss() {
        Retired<H> mine = retiredOfMine();
        return mine == null ? null : mine.loss;
    }

    /** Throws the loss of the lock that the current thread holds, if there is one. */
    public final void throwIfLost() {
        LeaseLostException loss = loss();
        if (loss != null) {
            throw new LeaseLostException(loss);
        }
    }

    /** Returns whether the half that the current thread has is a retired one, also if that is just being done. */
    final synchronized boolean isRetired() {
        return loss() != null;
    }

    /**
     * Has the current thread, which isn't inside, take the current half in place of its own if that was retired. Called
     * before a thread asks Redis: another one that has the current half may do so, too.
     *
     * @return whether it has the current half; else it has none
     */
    final boolean confirm(boolean interruptible, long waitNanos) throws InterruptedException {
        while (isRetired()) {
            unlock();
            if (!take(WHOLE, interruptible, waitNanos)) {
                return false;
            }
        }
        return true;
    }

    private @Nullable Retired<H> retiredOfMine() {
        return retired == null
                ? null
                : retired().filter(each -> each.half.isMine()).findFirst().orElse(null);
    }

    private Stream<Retired<H>> retired() {
        List<Retired<H>> all = retired;
        return all == null ? Stream.empty() : all.stream();
    }

    @GuardedBy("this")
    private void setRetired(Stream<Retired<H>> some) {
        List<Retired<H>> all = some.toList();
        retired = all.isEmpty() ? null : all;
    }

    // Threads that have ended don't ask.
    private static <H extends LocalLock> boolean isStillHeld(Retired<H> lost) {
        return lost.half.isHeld() && !isEnded(lost.half.owner());
    }

    private static boolean isEnded(@Nullable Thread owner) {
        return owner != null && !owner.isAlive();
    }

    /** Returns the half that the current thread holds, or else the current one. */
    final H mine() {
        // In this order: if its half isn't the current one any more, it is seen to be retired.
        H half = current;
        Retired<H> lost = retiredOfMine();
        return lost == null ? half : lost.half;
    }

    final H current() {
        return current;
    }

    private H toTake() {
        H half = current;
        return half == home || home.isHeld() || half.isMine() ? half : comeHome(half);
    }

    // A thread that has both knows that no other one is inside.
    private H comeHome(H spare) {
        if (spare.tryLock()) {
            if (home.tryLock()) {
                reinstate(spare);
                home.unlock();
            }
            spare.unlock();
        }
        return current;
    }

    private synchronized void reinstate(H spare) {
        if (current == spare) {
            setRetired(retired().filter(each -> each.half != home));
            current = home;
        }
    }

    // ---- acquisition

    /** Takes it, waiting for as long as that takes. */
    public final void lock() {
        takeUninterruptibly(WHOLE);
    }

    /** Takes it unless interrupted. */
    public final void lockInterruptibly() throws InterruptedException {
        take(WHOLE, true, FOREVER);
    }

    @Override
    public final boolean tryLock(long waitNanos) throws InterruptedException {
        return take(WHOLE, true, waitNanos);
    }

    @Override
    public final boolean tryLock() {
        return takeAtOnce(WHOLE);
    }

    final boolean takeAtOnce(Way<? super H> way) {
        H mine = mine();
        if (mine.isMine()) {
            return way.takeAtOnce(mine);
        }
        while (true) {
            H half = toTake();
            boolean taken = way.takeAtOnce(half);
            if (half == current) {
                return taken;
            }
            if (taken) {
                way.giveBack(half);
            }
        }
    }

    final void takeUninterruptibly(Way<? super H> way) {
        try {
            take(way, false, FOREVER);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    final boolean take(Way<? super H> way, boolean interruptible, long waitNanos) throws InterruptedException {
        H held = mine();
        // A thread that shares a half and wants the whole waits for itself, as in the JDK.
        if (held.isMine() && way.takeAtOnce(held)) {
            return true;
        }
        boolean interrupted = false;
        try {
            H half = toTake();
            if (way.take(half, 0)) {
                if (half == current && isNext(half, way, null)) {
                    return true;
                }
                way.giveBack(half);
            }
        } catch (InterruptedException e) {
            if (interruptible) {
                throw e;
            }
            interrupted = true;
        }
        return new Wait(way, waitNanos, interrupted).take(interruptible);
    }

    private Queue<Listed<H>> listOfAll() {
        Queue<Listed<H>> list = listed;
        if (list == null) {
            synchronized (this) {
                list = listed == null ? new ConcurrentLinkedQueue<>() : listed;
                listed = list;
            }
        }
        return list;
    }

    /**
     * Returns whether no listed thread comes before one that has taken the half. Threads that share it are inside
     * together, whichever of them comes first.
     *
     * @param wait that of the thread, or null if it has just come
     */
    private boolean isNext(H half, Way<? super H> way, @Nullable Wait wait) {
        Queue<Listed<H>> list = listed;
        if (list == null || !(fair || way.isShared())) {
            return true;
        }
        for (Listed<H> each : list) {
            if (wait != null && !wait.comesAfter(each)) {
                return true;
            }
            if (each.half == half && !(way.isShared() && each.isShared)) {
                return false;
            }
        }
        return true;
    }

    /** A thread that waits. */
    private final class Wait {
        private final Way<? super H> way;
        private final long waitNanos;
        private final long begunNanos = clock.getAsLong();
        private @Nullable Listed<H> entry;
        private boolean interrupted;

        Wait(Way<? super H> way, long waitNanos, boolean interrupted) {
            this.way = way;
            this.waitNanos = Math.max(0, waitNanos);
            this.interrupted = interrupted;
        }

        boolean take(boolean interruptible) throws InterruptedException {
            waiting.incrementAndGet();
            try {
                while (true) {
                    try {
                        if (takeInSlice()) {
                            return true;
                        }
                        if (leftNanos() <= 0) {
                            return false;
                        }
                    } catch (InterruptedException e) {
                        if (interruptible) {
                            throw e;
                        }
                        interrupted = true;
                    }
                }
            } finally {
                leave();
            }
        }

        private long leftNanos() {
            return waitNanos == FOREVER ? FOREVER : waitNanos - (clock.getAsLong() - begunNanos);
        }

        private boolean takeInSlice() throws InterruptedException {
            long slice = LEAST_SLICE_NANOS + waiting.get() * MORE_SLICE_NANOS;
            H half = toTake();
            if (entry != null) {
                entry.half = half;
            } else if (fair || (isShareable && !way.isShared())) {
                entry = new Listed<>(half, way.isShared(), begunNanos);
                listOfAll().add(entry);
            }
            if (!way.take(half, Math.min(leftNanos(), slice))) {
                return false;
            }
            if (half == current && isNext(half, way, this)) {
                return true;
            }
            way.giveBack(half);
            Thread.onSpinWait();
            return false;
        }

        boolean comesAfter(Listed<H> other) {
            return other != entry && begunNanos - other.begunNanos > NEIGHBOURS_NANOS;
        }

        private void leave() {
            if (entry != null) {
                listOfAll().remove(entry);
            }
            waiting.decrementAndGet();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public final void unlock() {
        giveBack(WHOLE);
    }

    final void giveBack(Way<? super H> way) {
        H mine = mine();
        way.giveBack(mine);
        if (mine != current) {
            forget();
        }
    }

    private synchronized void forget() {
        setRetired(retired().filter(Halves::isStillHeld));
    }

    // ---- questions

    @Override
    public final int holds() {
        return mine().holds();
    }

    @Override
    public final boolean isMine() {
        return mine().isMine();
    }

    @Override
    public final boolean isHeld() {
        return current.isHeld();
    }

    @Override
    public final boolean isWanted() {
        return current.isWanted();
    }

    @Override
    public final boolean isQueued(Thread thread) {
        return current.isQueued(thread);
    }

    @Override
    public final boolean isAnnounced() {
        return home.isAnnounced();
    }

    @Override
    public final @Nullable Thread owner() {
        return current.owner();
    }

    @Override
    public final List<Thread> queued() {
        return current.queued();
    }

    @Override
    public final String toString() {
        return current.toString();
    }

    /** Takes the whole. */
    private static final class Whole implements Way<LocalLock> {
        @Override
        public boolean takeAtOnce(LocalLock half) {
            return half.tryLock();
        }

        @Override
        public boolean take(LocalLock half, long waitNanos) throws InterruptedException {
            return half.tryLock(waitNanos);
        }

        @Override
        public void giveBack(LocalLock half) {
            half.unlock();
        }
    }
}
