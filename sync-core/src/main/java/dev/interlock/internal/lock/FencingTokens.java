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

    /** The local part of the last token of a tenure. */
    private static final long LAST = (1L << LOCAL_BITS) - 1;

    private long token;

    /** Begins with none drawn. */
    public FencingTokens(long remotePart) {
        this.token = remotePart << LOCAL_BITS;
    }

    /** Draws the token of the next acquisition, or returns false if this tenure has none left. */
    public boolean draw() {
        if (localPart() == LAST) {
            return false;
        }
        token++;
        return true;
    }

    private long localPart() {
        return token & LAST;
    }

    /** Returns whether one was drawn. */
    public boolean isDrawn() {
        return localPart() != 0;
    }

    /** Leaves none: the next acquisition has to continue this tenure by another one first. */
    public void exhaust() {
        token |= LAST;
    }

    /** Returns the token of the current acquisition. */
    public long current() {
        return token;
    }

    /** Returns what was drawn in Redis. */
    public long remotePart() {
        return token >> LOCAL_BITS;
    }
}
