package dev.interlock.internal.semaphore;

/**
 * The sums of a session's account in Redis since it was opened. A command says the sums, so that a repeated one says
 * nothing new.
 */
final class Account {
    private long epoch;

    /** Whether Redis has answered nothing in this epoch. */
    private boolean fresh = true;

    private long granted;
    private long taken;
    private long returned;
    private long contributed;

    /** Sums that the last command said. */
    private long saidReturned;

    private long saidContributed;

    /** Sums that Redis is known to have. */
    private long heardReturned;

    private long heardContributed;

    Account(long epoch) {
        this.epoch = epoch;
    }

    long epoch() {
        return epoch;
    }

    boolean isFresh() {
        return fresh;
    }

    long granted() {
        return granted;
    }

    long returned() {
        return returned;
    }

    long contributed() {
        return contributed;
    }

    /** Returns whether the session has more than it has given back. */
    boolean hasPermits() {
        return granted + taken > returned;
    }

    /** Returns how many permits the pool has in addition to what Redis has said of it, by what was not said yet. */
    long unsaid() {
        return (returned - saidReturned) + (contributed - saidContributed);
    }

    void giveBack(int permits) {
        returned += permits;
    }

    void contribute(int permits) {
        contributed += permits;
    }

    void take(int permits) {
        taken += permits;
    }

    /** The permits granted are so many in all by now, which is more than before. Returns how many more. */
    long grantUpTo(long sum) {
        long more = sum - granted;
        granted = sum;
        return more;
    }

    /** The sums are said. */
    void said() {
        saidReturned = returned;
        saidContributed = contributed;
    }

    /** Redis has heard what was said. */
    void heard() {
        fresh = false;
        heardReturned = saidReturned;
        heardContributed = saidContributed;
    }

    /**
     * The account is gone, and another one begins. What Redis hasn't heard of the old one goes over to it, but for
     * permits that are owned: those are lost.
     */
    void reopen(long newEpoch, SemaphoreReply last, boolean owned) {
        boolean isClosed = last.status() == SemaphoreReply.Status.CLOSED;
        long undeliveredReturns = returned - (isClosed ? last.returned() : heardReturned);
        long undeliveredContributions = contributed - (isClosed ? last.contributed() : heardContributed);
        long unheardGrants = isClosed ? last.granted() - granted : 0;
        epoch = newEpoch;
        fresh = true;
        granted = 0;
        taken = 0;
        returned = 0;
        heardReturned = 0;
        heardContributed = 0;
        contributed = undeliveredContributions;
        if (!owned) {
            contributed += undeliveredReturns + Math.max(0, unheardGrants);
        }
    }
}
