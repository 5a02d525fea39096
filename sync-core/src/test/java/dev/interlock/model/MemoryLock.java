package dev.interlock.model;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.RemoteConditions;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.Tenure;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The remote half of one session's lock, whose other side is an object of this JVM instead of Redis. */
final class MemoryLock implements RemoteLock {
    /** What all sessions share: which of them owns the name. */
    static final class Name {
        private final boolean excludes;
        private @Nullable MemoryLock owner;

        /**
         * Creates a name that nobody owns.
         *
         * @param excludes whether it has one owner at a time, as it should
         */
        Name(boolean excludes) {
            this.excludes = excludes;
        }

        synchronized boolean take(MemoryLock session) {
            if (owner != null && excludes) {
                return false;
            }
            owner = session;
            return true;
        }

        synchronized void await(MemoryLock session) throws InterruptedException {
            while (!take(session)) {
                wait();
            }
        }

        synchronized void release(MemoryLock session) {
            if (owner == session) {
                owner = null;
                notifyAll();
            }
        }
    }

    /** What lasts until it is released. */
    private static final class Owning extends Tenure {
        @Override
        public boolean isUsable(long nowNanos) {
            return true;
        }

        @Override
        public @Nullable LeaseLostException loss() {
            return null;
        }

        @Override
        protected long freeNanos() {
            return 0;
        }
    }

    private final Name name;
    private final LocalLock local;
    private final boolean releases;

    private volatile @Nullable Owning tenure;

    /**
     * Creates a session's half.
     *
     * @param releases whether it gives up what none of its threads wants, as it should
     */
    MemoryLock(Name name, LocalLock local, boolean releases) {
        this.name = name;
        this.local = local;
        this.releases = releases;
    }

    @Override
    public void ensureAcquiring() {
        // It isn't closed.
    }

    @Override
    public boolean enterAtOnce() {
        Owning current = tenure;
        return current != null && current.take(0);
    }

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis) throws InterruptedException {
        if (enterAgain()) {
            return true;
        } else if (waitNanos != 0) {
            name.await(this);
        } else if (!name.take(this)) {
            return false;
        }
        Owning next = new Owning();
        tenure = next;
        return next.take(0);
    }

    @Override
    public @Nullable Departure leave(long now) {
        Owning current = Objects.requireNonNull(tenure);
        if (local.isWanted() || !releases) {
            current.free();
        } else {
            giveUp();
        }
        return null;
    }

    private void giveUp() {
        tenure = null;
        name.release(this);
    }

    @Override
    public void cleanUp() {
        Owning current = tenure;
        if (current != null && releases && !local.isWanted() && !local.isHeld()) {
            giveUpIfIdle(current);
        }
    }

    private synchronized void giveUpIfIdle(Owning current) {
        if (tenure == current) {
            current.close();
            if (local.isHeld()) {
                current.reopen();
            } else {
                giveUp();
            }
        }
    }

    private synchronized boolean enterAgain() {
        Owning current = tenure;
        return current != null && current.take(0);
    }

    @Override
    public RemoteConditions conditions() {
        throw new UnsupportedOperationException("no conditions");
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public String kind() {
        return "memory lock";
    }

    @Override
    public String sessionId() {
        return "session";
    }

    @Override
    public long knownToken() {
        return 0;
    }

    @Override
    public long now() {
        return 0;
    }

    @Override
    public Listeners listeners() {
        return new Listeners();
    }

    @Override
    public void endHold(long now) {}

    @Override
    public void beginAttempt() {}

    @Override
    public long fencingToken() {
        throw new UnsupportedOperationException("no tokens");
    }

    @Override
    public void assertValid() {}

    @Override
    public boolean isWaiting() {
        Owning current = tenure;
        return current == null || !current.isTaken();
    }

    @Override
    public boolean isLocked() {
        return tenure != null;
    }

    @Override
    public Runnable onLost(Consumer<? super LeaseLostException> listener) {
        return () -> {};
    }
}
