package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.contestants.Contestant.Work;
import dev.interlock.benchmarks.contestants.Contestants;
import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.contestants.Ledger.Timing;
import dev.interlock.benchmarks.report.Measurement.Latency;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;

/** A child JVM in which many threads wait for one lock that somebody has, who then lets go. */
final class Queue {

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final ByteBuffer page = Ledger.page();
    private final ConcurrentHistogram times = new ConcurrentHistogram(2);
    private final AtomicLong had = new AtomicLong();
    private final AtomicLong gaveUp = new AtomicLong();
    private final AtomicReference<String> reason = new AtomicReference<>("-");
    private final CountDownLatch inside = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);
    private final Work work;
    private final CountDownLatch left;
    private volatile long openedNanos;

    private Queue(Work work, int threads) {
        this.work = work;
        this.left = new CountDownLatch(threads);
    }

    public static void main(String[] args) throws InterruptedException, ReflectiveOperationException {
        Work work = RedisServer.connect(() -> Contestants.named(args[1]).open(args[0]))
                .work("queue-" + ProcessHandle.current().pid());
        int threads = Integer.parseInt(args[2]);
        new Queue(work, threads).run(threads, Boolean.parseBoolean(args[3]), Long.parseLong(args[4]));
        ChildConsole.readCommand(); // the parent ends this JVM, and with it whoever still waits
    }

    private void run(int threads, boolean isVirtual, long limitMillis)
            throws InterruptedException, ReflectiveOperationException {
        var holder = new Thread(() -> work.once(new Ledger(page, Timing.NOTHING, this::hold, 100, 0)), "holder");
        holder.setDaemon(true);
        holder.start();
        inside.await();
        List<Thread> waiting = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            waiting.add(isVirtual ? startVirtual(this::take) : start(this::take));
        }
        awaitAll(waiting, limitMillis);
        openedNanos = Monotonic.nanos();
        gate.countDown();
        left.await(limitMillis, TimeUnit.MILLISECONDS);
        double seconds = (Monotonic.nanos() - openedNanos) / 1e9;
        report(seconds);
    }

    // Who is inside adds to the sum before he counts himself. So the sum, read later, is less only if an update was
    // lost.
    private void report(double seconds) {
        long counted = had.get();
        long booked = Ledger.sum(page) - 1; // but for the holder
        Latency latency = Latency.of(times, List.of());
        String percentiles = latency == null
                ? ""
                : " " + latency.p50Micros() + " " + latency.p90Micros() + " " + latency.p99Micros() + " "
                        + latency.p999Micros() + " " + latency.maxMicros() + " " + latency.samples();
        ChildConsole.say("had " + counted + " " + booked + " " + seconds + " " + gaveUp.get() + " " + reason.get()
                + percentiles);
    }

    private void hold() {
        inside.countDown();
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts the holder", e);
        }
    }

    private void take() {
        var ledger = new Ledger(page, Timing.NOTHING, this::enter, 100, 0);
        try {
            work.once(ledger);
        } catch (RuntimeException e) {
            // That so many wait may be more than a lock can bear.
            reason.set(e.getClass().getSimpleName());
            gaveUp.incrementAndGet();
        } finally {
            left.countDown();
        }
    }

    private void enter() {
        times.recordValue(Math.max(0, Monotonic.nanos() - openedNanos));
        had.incrementAndGet();
    }

    // Whether they wait for the lock or for an answer from where it is: they have asked for it. Some may have given up,
    // and where a lock can't bear so many they are never all at rest; then they have had time enough to come.
    private static void awaitAll(List<Thread> threads, long limitMillis) {
        long begunNanos = System.nanoTime();
        long limitNanos = TimeUnit.MILLISECONDS.toNanos(limitMillis);
        while (System.nanoTime() - begunNanos < limitNanos && !threads.stream().allMatch(Queue::isWaiting)) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
        LockSupport.parkNanos(SETTLE_NANOS);
    }

    private static boolean isWaiting(Thread thread) {
        return switch (thread.getState()) {
            case WAITING, TIMED_WAITING, BLOCKED, TERMINATED -> true;
            case NEW, RUNNABLE -> false;
        };
    }

    private static Thread start(Runnable task) {
        var thread = new Thread(null, task, "waiting", 128 * 1024);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    // By reflection: this is compiled for JDKs that don't have them yet.
    private static Thread startVirtual(Runnable task) throws ReflectiveOperationException {
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }
}
