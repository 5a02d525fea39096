package dev.interlock.internal.latch;

/** The local half of a latch: the superclass, in which threads of this JVM wait. */
public interface LocalLatch {
    /** Waits until this is open, for so long at most. Returns whether it is. */
    boolean await(long nanos) throws InterruptedException;

    /** Opens this for good. */
    void open();
}
