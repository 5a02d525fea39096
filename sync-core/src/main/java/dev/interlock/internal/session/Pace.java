package dev.interlock.internal.session;

import java.util.concurrent.TimeUnit;

/**
 * How often a session asks Redis about each of the names for whose locks it waits: every second, or every few seconds
 * if there are many of them. What Redis has to know of that, and threads that ask by themselves, go by it.
 *
 * <p>The interval at most doubles, and only when each name has been asked about at the one before: by then Redis has
 * been told that the session is going to be silent about it for longer.
 */
public final class Pace {
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The longest interval, so that what Redis keeps of those who wait outlives it. */
    private static final int MOST_SECONDS = 10;

    /** Redis takes a session that waits to be dead if it misses so many of its questions. */
    private static final int INTERVALS = 3;

    private final int namesASecond;

    private volatile int seconds = 1;

    /** How often the pulse has beaten at this interval. Only the pulse uses it. */
    private int beats;

    /** Messages about names that were asked about before this time may have been lost. */
    private volatile long heardAllNanos;

    /**
     * Creates one that begins with a second.
     *
     * @param namesASecond how many names are asked about in a second
     */
    public Pace(int namesASecond, long nowNanos) {
        this.namesASecond = namesASecond;
        this.heardAllNanos = nowNanos;
    }

    /** The pulse is about to beat, as it does each second, while the session waits for so many names. */
    public void beat(int names) {
        int wanted = Math.min(MOST_SECONDS, Math.max(1, (names + namesASecond - 1) / namesASecond));
        beats++;
        if (wanted < seconds || (wanted > seconds && beats >= seconds)) {
            seconds = Math.min(wanted, 2 * seconds);
            beats = 0;
        }
    }

    /** Messages may have been lost: all names are to be asked about with the next beat. */
    public void messagesLost(long nowNanos) {
        heardAllNanos = nowNanos + 1;
    }

    /**
     * Returns whether the pulse is to ask about a name.
     *
     * @param askedNanos when the last question was sent that has an answer
     */
    public boolean isDue(long askedNanos, long nowNanos) {
        // A beat may be somewhat early.
        long leastNanos = seconds == 1 ? 0 : seconds * SECOND_NANOS - SECOND_NANOS / 2;
        return nowNanos - askedNanos >= leastNanos || askedNanos - heardAllNanos < 0;
    }

    /** Returns for how long a thread waits for word before it asks by itself, should the pulse have failed to. */
    public long pollNanos() {
        return seconds * SECOND_NANOS * 3 / 2;
    }

    /** Returns for how long after a question Redis doesn't take the session to be dead. */
    public long heartbeatMillis() {
        return TimeUnit.SECONDS.toMillis(1) * INTERVALS * seconds;
    }
}
