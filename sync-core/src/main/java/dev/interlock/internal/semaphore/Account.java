package dev.interlock.internal.semaphore;

import dev.interlock.internal.semaphore.SemaphoreReply.Status;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * The sums of a session's account in Redis since it was opened. A command says the sums, so that a repeated one says
 * nothing new.
 *
 * <p>When the account is gone, what it hasn't counted goes over to the next one. A closed account tells what it has
 * counted, and Redis remembers it for a day. An account that is forgotten, or lost with its pool, tells nothing: then
 * only what no command had said before the one that finds out is known not to be counted. The rest is dropped, since
 * counting it twice would enlarge the pool for good.
 */
final class Account {
    /**
     * For so long after a command the account that it may have changed is remembered: a day, less what clocks differ.
     */
    private static final long REMEMBERED_NANOS = TimeUnit.HOURS.toNanos(23);

    /** What was given back, and by how much the pool was enlarged. */
    private record Sums(long returned, long contributed) {
        static final Sums NONE = new Sums(0, 0);
    }

    /** Sums that Redis has not confirmed, with the first command that has said them, and when that was sent. */
    private record Said(long version, long nanos, Sums sums) {}

    /** Tells the account from those before. Grows with each. */
    long epoch;

    /** When the pool was made, by which it is told from the next one of its name; 0 if Redis has yet to answer. */
    long born;

    /** Whether Redis has answered nothing in this epoch. */
    private boolean fresh = true;

    // ---- sums since the account was opened, which only grow, except contributed

    /** As last heard. */
    long granted;

    /** What operations have taken, as last heard. */
    long taken;

    /** Redis may have yet to hear of the last part. */
    long returned;

    /** By how much the pool was enlarged, or reduced if negative. Redis may have yet to hear of the last part. */
    long contributed;

    /** The oldest first; none that is known to be heard. */
    private final Deque<Said> said = new ArrayDeque<>();

    /** What Redis is known to have. */
    private Sums heard = Sums.NONE;

    Account(long epoch) {
        this.epoch = epoch;
    }

    /** Returns whether the session has more than it has given back. */
    boolean hasPermits() {
        return granted + taken > returned;
    }

    /**
     * Returns how many permits the pool has in addition to what Redis has said of it, by what it had not heard then.
     */
    long unheard() {
        return returned - heard.returned + contributed - heard.contributed;
    }

    /**
     * Returns whether Redis has yet to hear what it can't find out by itself: by how much the pool is enlarged, and
     * what was given back, unless permits are owned, so that they return with the end of the lease.
     */
    boolean isOwing(boolean owned) {
        return contributed != heard.contributed || (!owned && returned != heard.returned);
    }

    /** Returns how many permits Redis is known to have got back. */
    long heardReturned() {
        return heard.returned;
    }

    /**
     * Returns whether a command may open the account: not if an account that it has opened may be forgotten already.
     */
    boolean mayOpen(long now) {
        return fresh && (said.isEmpty() || now - said.getFirst().nanos < REMEMBERED_NANOS);
    }

    /** A command says the sums. */
    void say(long version, long now) {
        Sums sums = new Sums(returned, contributed);
        if (!sums.equals(said.isEmpty() ? heard : said.getLast().sums)) {
            said.add(new Said(version, now, sums));
        }
    }

    /** The account is open, and has what that command has said. */
    void hear(long version, long poolBorn) {
        fresh = false;
        born = poolBorn;
        while (!said.isEmpty() && said.getFirst().version <= version) {
            heard = said.remove().sums;
        }
    }

    /**
     * The account is gone, as the reply to that command tells, and another one begins. What it hasn't counted goes over
     * to that, but for permits that are owned: those are lost.
     *
     * @return of how many permits it isn't known whether they were counted; they are dropped
     */
    long reopen(SemaphoreReply reply, long version, long newEpoch, boolean owned, long now) {
        boolean isClosed = reply.status() == Status.CLOSED;
        Sums counted =
                isClosed ? new Sums(reply.returned(), reply.contributed()) : maybeCounted(reply.born(), version, now);
        long dropped = isClosed ? 0 : counted.contributed - heard.contributed;
        contributed -= counted.contributed;
        if (!owned) {
            dropped += isClosed ? 0 : counted.returned - heard.returned;
            contributed += returned - counted.returned + (isClosed ? Math.max(0, reply.granted() - granted) : 0);
        }
        if (reply.status() == Status.DISAGREED) {
            contributed = 0;
        }
        epoch = newEpoch;
        born = reply.status() == Status.DISAGREED ? 0 : reply.born();
        fresh = true;
        granted = 0;
        taken = 0;
        returned = 0;
        said.clear();
        heard = Sums.NONE;
        return dropped;
    }

    /** Nothing is known of the account any more: returns what it may have counted. */
    private Sums maybeCounted(long poolBorn, long version, long now) {
        Sums counted = heard;
        for (Said one : said) {
            // An account that has counted it is remembered, unless its pool is lost.
            if (one.version < version && (poolBorn != born || now - one.nanos >= REMEMBERED_NANOS)) {
                counted = one.sums;
            }
        }
        return counted;
    }
}
