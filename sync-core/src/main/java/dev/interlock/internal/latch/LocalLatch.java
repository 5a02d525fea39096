package dev.interlock.internal.latch;

/** The local half of a latch: the superclass, at which threads of this JVM wait. */
public interface LocalLatch {
    /** Waits until the gate is open, for so long at most. Returns whether it is. */
    boolean await(long nanos) throws InterruptedException;

    /** Opens the gate for good. */
    void open();
}
