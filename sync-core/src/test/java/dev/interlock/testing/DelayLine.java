package dev.interlock.testing;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** One direction of a connection: frames leave in the order in which they came, each not before it is due. */
final class DelayLine {

    private static final byte[] END = {};

    private static final class Parcel {

        private final byte[] bytes;
        private final long dueNanos;

        Parcel(byte[] bytes, long dueNanos) {
            this.bytes = bytes;
            this.dueNanos = dueNanos;
        }
    }

    private final BlockingQueue<Parcel> parcels = new LinkedBlockingQueue<>();
    private final AtomicInteger underWay = new AtomicInteger();
    private final Faults faults;

    DelayLine(Faults faults) {
        this.faults = faults;
    }

    /** Returns whether anything is yet to be delivered. */
    boolean isBusy() {
        return underWay.get() > 0;
    }

    void put(byte[] bytes, Duration delay) {
        underWay.incrementAndGet();
        parcels.add(
                new Parcel(bytes, System.nanoTime() + delay.plus(faults.delay()).toNanos()));
    }

    /** Marks the end of the stream, which keeps its place behind what was put before. */
    void end() {
        put(END, Duration.ZERO);
    }

    /** Delivers until the end, which nobody needs to hear: frames for a receiver that is gone are discarded. */
    void deliver(OutputStream receiver) throws InterruptedException {
        var out = new BufferedOutputStream(receiver);
        boolean gone = false;
        int unflushed = 0;
        while (true) {
            Parcel parcel = parcels.peek();
            if (parcel == null || parcel.dueNanos - System.nanoTime() > 0) {
                gone |= !flush(out);
                underWay.addAndGet(-unflushed);
                unflushed = 0;
            }
            parcel = parcels.take();
            awaitDue(parcel);
            faults.awaitFlow();
            if (parcel.bytes == END) {
                flush(out);
                underWay.addAndGet(-unflushed - 1);
                return;
            }
            gone = gone || !write(parcel.bytes, out);
            unflushed++;
        }
    }

    private static void awaitDue(Parcel parcel) throws InterruptedException {
        long leftNanos = parcel.dueNanos - System.nanoTime();
        while (leftNanos > 0) {
            TimeUnit.NANOSECONDS.sleep(leftNanos);
            leftNanos = parcel.dueNanos - System.nanoTime();
        }
    }

    private static boolean write(byte[] bytes, OutputStream out) {
        try {
            out.write(bytes);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean flush(OutputStream out) {
        try {
            out.flush();
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
