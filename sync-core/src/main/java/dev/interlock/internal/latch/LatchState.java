package dev.interlock.internal.latch;

import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.Effects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A session's view of one latch. Threads, replies and messages are events that change it, and have
 * {@linkplain LatchEffect effects} that the owner carries out after each of them. It knows no session and no clock, and
 * is used with the owner's mutex only, but for what is volatile.
 *
 * <p>The latch that an object has joined is known by the time at which it was made. If Redis loses it, and another one
 * of the same name is made, nobody takes one for the other: objects that have joined the first one learn that it is
 * gone.
 */
public final class LatchState {
    /** A count of which nothing was heard yet. */
    public static final long UNKNOWN = -1;

    /** Who counts down says so again two seconds later, and who waits once a second. */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(3);

    private static final String CLOSED = "the Interlock session is closed";

    private final String name;
    final int count;

    /** When the latch was made that this object has joined, 0 as long as it has not. */
    volatile long born;

    /** How often this object has counted down. It only grows. */
    long total;

    /** How many threads wait. */
    private int waiting;

    /** Whether the latch is known to be open. It remains so. */
    private volatile boolean open;

    /** The count that was last answered, {@link #UNKNOWN} if none was. */
    private volatile long left;

    /** The least count that Redis has answered: messages don't tell it, since anybody may write them. */
    private long least;

    /** Whether the last count that Redis has answered was greater: it has gone back to an older copy of its data. */
    private boolean isOlder;

    /** If so, since when. */
    private long olderSinceNanos;

    /** Why this object can't be used any more. It remains, and an open latch doesn't get one. */
    private volatile @Nullable String loss;

    /** The failure that waiting threads throw; null if none waits. It doesn't end the latch: later ones ask again. */
    private volatile @Nullable Throwable refusal;

    /** The count that the latch began with, if this object was refused because of that. */
    private volatile int otherCount = -1;

    /** Whether the latch that this object has joined was opened long ago, so that the name is free for another one. */
    private volatile boolean past;

    /** The steps that the owner has yet to take. */
    public final Effects<LatchEffect> effects = new Effects<>();

    /**
     * Begins with a latch that has yet to be joined.
     *
     * @param count what it begins with
     * @param left what the count is by now, as far as is known
     */
    public LatchState(String name, int count, long left) {
        this.name = name;
        this.count = count;
        this.left = left;
        this.least = left;
    }

    // ---- what needs no mutex, because it is volatile

    /** Returns the name, without the session's namespace. */
    public String name() {
        return name;
    }

    /** Returns whether the latch is known to be open. It remains so, whatever becomes of the session. */
    public boolean isOpen() {
        return open;
    }

    /** Returns the count as far as it is known: 0 if the latch is open, {@link #UNKNOWN} if it was never heard of. */
    public long knownCount() {
        return open ? 0 : left;
    }

    boolean isLost() {
        return loss != null;
    }

    /**
     * Redis has answered a join: returns whether what was joined is still the latch of its name.
     *
     * @param wanted what the caller believes that it begins with
     * @throws IllegalArgumentException if the latch has begun with another count
     * @throws IllegalStateException if it was lost before it was joined
     */
    boolean isJoined(int wanted) {
        String known = loss;
        int began = known == null ? count : otherCount;
        if (known != null && otherCount < 0 && born == 0) {
            throw new IllegalStateException(known);
        } else if (began >= 0 && began != wanted && !past) {
            throw new IllegalArgumentException(described() + " began with a count of " + began
                    + "; it can't be joined with a count of " + wanted + ". A new latch needs a new name");
        }
        return known == null && !past;
    }

    /** Throws if the latch is lost or its session closed, unless it is known to be open. */
    public void ensureAlive(boolean closed) {
        String known = loss;
        if (!open && (known != null || closed)) {
            throw new IllegalStateException(known == null ? CLOSED : known);
        }
    }

    /**
     * As {@link #ensureAlive}; also throws if what was asked for those who wait was refused. After a refusal the latch
     * can be used again as soon as those have left.
     */
    public void ensureUsable(boolean closed) {
        ensureAlive(closed);
        Throwable cause = refusal;
        if (cause != null && !open) {
            throw refusal(cause);
        }
    }

    /** Returns what threads throw if Redis refuses what is asked for them. */
    public IllegalStateException refusal(Throwable cause) {
        return Failures.refusal(described(), cause);
    }

    String described() {
        return "latch " + Names.quoted(name);
    }

    // ---- events

    /**
     * A thread comes to wait. For the first one Redis is told.
     *
     * @param asks whether the thread tells Redis by itself, since it has to hear the answer
     */
    public void arrive(boolean asks) {
        waiting++;
        if (waiting == 1 && !asks) {
            effects.add(LatchEffect.TELL);
        }
    }

    /**
     * A thread waits no more. Redis isn't told: it forgets sessions that no longer say that they wait.
     *
     * @return whether it was the last one
     */
    public boolean leave() {
        waiting--;
        assert waiting >= 0 : waiting;
        refusal = waiting == 0 ? null : refusal;
        return waiting == 0;
    }

    /** Returns whether threads wait for what Redis may have to say. */
    public boolean isWaiting() {
        return waiting > 0 && !open && loss == null;
    }

    /** A thread counts down. Returns whether Redis has to be told, which needn't know if the latch is open. */
    public boolean countDown() {
        if (!open) {
            total++;
        }
        return !open;
    }

    /**
     * Returns the greatest count that the latch may have. It is lost if Redis knows a greater one although others have
     * had the time to say once more how often they have counted down.
     */
    long most(long now) {
        return least == 0 || (isOlder && now - olderSinceNanos >= GRACE_NANOS) ? least : count;
    }

    /** Redis has answered. */
    void answered(LatchReply reply, long now) {
        refusal = null;
        switch (reply.status()) {
            case COUNTING -> {
                born = reply.born();
                olderSinceNanos = isOlder ? olderSinceNanos : now;
                isOlder = reply.left() > least;
                least = Math.min(least, reply.left());
                counted(reply.left());
            }
            case OPEN -> {
                born = reply.born();
                least = 0;
                open();
            }
            case PAST -> forgotten();
            case OTHER_COUNT -> {
                otherCount = reply.began();
                lose(described() + " began with another count");
            }
            case GONE -> {
                past = true;
                lose(described() + " is lost: Redis doesn't know it any more, or not all of its count-downs, since"
                        + " its data was lost or deleted; or since it was open and its retention is over");
            }
        }
    }

    /** The count is that by now. */
    public void counted(long now) {
        left = now;
    }

    /**
     * A message tells that the latch made at that time is open.
     *
     * @param early whether a message may precede the replication of what it tells, so that Redis is asked
     */
    void told(long ofBorn, boolean early) {
        if (ofBorn != born || open) {
            return;
        }
        if (early) {
            effects.add(LatchEffect.TELL);
        } else {
            open();
        }
    }

    /** The latch was opened, and another one may have the name. */
    public void forgotten() {
        past = true;
        open();
    }

    private void open() {
        open = true;
        effects.add(LatchEffect.OPEN);
    }

    /** Redis refuses what it is asked. Threads that wait throw that. Returns whether there are any. */
    public boolean refused(Throwable cause) {
        refusal = waiting > 0 ? cause : null;
        return waiting > 0;
    }

    /** The session is closed. */
    void close() {
        lose(CLOSED);
    }

    // Threads that wait are let out, and throw.
    private void lose(String reason) {
        if (!open && loss == null) {
            loss = reason;
            effects.add(LatchEffect.OPEN);
        }
    }

    @Override
    public String toString() {
        return open ? "open" : loss != null ? "lost" : left + " of " + count;
    }
}
