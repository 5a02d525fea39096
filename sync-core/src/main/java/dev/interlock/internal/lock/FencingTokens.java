package dev.interlock.internal.lock;

/**
 * The fencing tokens of one tenure, one for each acquisition. The upper bits, the remote part, are drawn in Redis when
 * the tenure begins; the lower ones count its acquisitions. A thread draws and reads tokens while it has the local
 * half.
 */
public final class FencingTokens {
    /** Bits of a token that count the acquisitions of one tenure. */
    private static final int LOCAL_BITS = 14;

    /** Remote parts are less than this: a token has no room for more. */
    public static final long REMOTE_LIMIT = 1L << (Long.SIZE - 1 - LOCAL_BITS);

    private final long remotePart;
    private final long first;
    private final long last;
    private long token;

    /** Begins with none drawn. */
    public FencingTokens(long remotePart) {
        this.remotePart = remotePart;
        this.first = remotePart << LOCAL_BITS;
        this.last = first + (1L << LOCAL_BITS) - 1;
        this.token = first;
    }

    /** Draws the token of the next acquisition, or returns false if this tenure has none left. */
    public boolean draw() {
        if (token == last) {
            return false;
        }
        token++;
        return true;
    }

    /** Returns whether one was drawn. */
    public boolean isDrawn() {
        return token != first;
    }

    /** Leaves none: the next acquisition has to continue this tenure by another one first. */
    public void exhaust() {
        token = last;
    }

    /** Returns the token of the current acquisition. */
    public long current() {
        return token;
    }

    /** Returns what was drawn in Redis. */
    public long remotePart() {
        return remotePart;
    }
}
