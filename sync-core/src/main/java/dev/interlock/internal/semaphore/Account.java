package dev.interlock.internal.semaphore;

/**
 * The sums of a session's account in Redis since it was opened. A command says the sums, so that a repeated one says
 * nothing new.
 */
final class Account {
    /** What was given back, and by how much the pool was enlarged. */
    private record Sums(long returned, long contributed) {
        static final Sums NONE = new Sums(0, 0);
    }

    long epoch;

    /** Whether Redis has answered nothing in this epoch. */
    boolean fresh = true;

    long granted;
    long taken;
    long returned;
    long contributed;

    /** What the last command said. */
    private Sums said = Sums.NONE;

    /** What Redis is known to have. */
    private Sums heard = Sums.NONE;

    Account(long epoch) {
        this.epoch = epoch;
    }

    /** Returns whether the session has more than it has given back. */
    boolean hasPermits() {
        return granted + taken > returned;
    }

    /** Returns how many permits the pool has in addition to what Redis has said of it, by what was not said yet. */
    long unsaid() {
        return (returned - said.returned) + (contributed - said.contributed);
    }

    /** The sums are said. */
    void say() {
        said = new Sums(returned, contributed);
    }

    /** Redis has heard what was said. */
    void hear() {
        fresh = false;
        heard = said;
    }

    /**
     * The account is gone, and another one begins. What Redis hasn't heard of the old one goes over to it, but for
     * permits that are owned: those are lost.
     */
    void reopen(long newEpoch, SemaphoreReply last, boolean owned) {
        boolean isClosed = last.status() == SemaphoreReply.Status.CLOSED;
        Sums known = isClosed ? new Sums(last.returned(), last.contributed()) : heard;
        long unheardGrants = isClosed ? Math.max(0, last.granted() - granted) : 0;
        contributed -= known.contributed;
        if (!owned) {
            contributed += returned - known.returned + unheardGrants;
        }
        epoch = newEpoch;
        fresh = true;
        granted = 0;
        taken = 0;
        returned = 0;
        said = Sums.NONE;
        heard = Sums.NONE;
    }
}
