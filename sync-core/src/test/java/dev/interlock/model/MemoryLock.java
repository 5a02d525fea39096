package dev.interlock.model;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.RemoteConditions;
import dev.interlock.internal.lock.RemoteLock;
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

    private final Name name;
    private final LocalLock local;
    private final boolean releases;

    private volatile boolean owning;

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
        return owning;
    }

    @Override
    public boolean enter(boolean interruptible, long waitNanos, long leaseMillis) throws InterruptedException {
        if (waitNanos == 0) {
            owning = name.take(this);
        } else {
            name.await(this);
            owning = true;
        }
        return owning;
    }

    @Override
    public @Nullable Departure leave(long now) {
        if (!local.isWanted() && releases) {
            giveUp();
        }
        return null;
    }

    private void giveUp() {
        owning = false;
        name.release(this);
    }

    @Override
    public void cleanUp() {
        if (owning && releases && !local.isWanted() && local.holds() == 0 && local.tryLock()) {
            try {
                if (owning && !local.isWanted()) {
                    giveUp();
                }
            } finally {
                local.unlock();
            }
        }
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
        return false;
    }

    @Override
    public boolean tryLockLocally() {
        return local.tryLock();
    }

    @Override
    public boolean isLocked() {
        return owning;
    }

    @Override
    public Runnable onLost(Consumer<? super LeaseLostException> listener) {
        return () -> {};
    }
}
