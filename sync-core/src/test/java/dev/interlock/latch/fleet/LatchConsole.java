package dev.interlock.latch.fleet;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import java.util.LongSummaryStatistics;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The child's end of {@link LatchPeer}s: sessions, one after the other, with one latch each. A command is
 * {@code <session> <verb> <argument>…}, an answer {@code <session> <what happened>}.
 */
final class LatchConsole {

    private static final long STACK_BYTES = 256 * 1024;

    private final String label;
    private final Interlock interlock;
    private final DistributedCountDownLatch latch;

    private LatchConsole(String label, String url, String name, int count) {
        this.label = label;
        interlock = Interlock.connect(url);
        latch = interlock.countDownLatch(name, count);
    }

    public static void main(String[] args) throws InterruptedException {
        ChildConsole.say("READY");
        LatchConsole console = null;
        while (true) {
            String[] command = ChildConsole.readCommand().split(" ", -1);
            if (command[1].equals("open")) {
                console = new LatchConsole(command[0], command[2], command[3], Integer.parseInt(command[4]));
                console.say("OPEN " + console.interlock.id());
            } else if (console != null) {
                console.obey(command);
            }
        }
    }

    private void say(String line) {
        ChildConsole.say(label + " " + line);
    }

    private void obey(String[] command) throws InterruptedException {
        switch (command[1]) {
            case "wait" -> letWait(Integer.parseInt(command[2]));
            case "count" -> letCount(Integer.parseInt(command[2]), Integer.parseInt(command[3]));
            case "left" -> say("LEFT " + latch.getCount());
            case "close" -> {
                interlock.close();
                say("CLOSED");
            }
            default -> throw new IllegalArgumentException(command[1]);
        }
    }

    /**
     * Threads that wait; when the last has passed, the parent hears how many have, and when the first and the last did.
     */
    private void letWait(int threads) {
        Queue<Long> passed = new ConcurrentLinkedQueue<>();
        CountDownLatch ready = new CountDownLatch(threads);
        AtomicInteger left = new AtomicInteger(threads);
        for (int i = 0; i < threads; i++) {
            start("waiter-" + i, () -> {
                ready.countDown();
                try {
                    latch.await();
                    passed.add(Monotonic.nanos());
                } catch (InterruptedException | RuntimeException e) {
                    say("FAILED " + e);
                }
                if (left.decrementAndGet() == 0) {
                    LongSummaryStatistics times =
                            passed.stream().mapToLong(Long::longValue).summaryStatistics();
                    say("PASSED " + passed.size() + " " + times.getMin() + " " + times.getMax());
                }
            });
        }
        start("herald", () -> {
            try {
                ready.await();
                say("WAITING " + threads);
            } catch (InterruptedException e) {
                say("FAILED " + e);
            }
        });
    }

    private void letCount(int times, int threads) {
        AtomicInteger left = new AtomicInteger(times);
        AtomicInteger working = new AtomicInteger(threads);
        for (int i = 0; i < threads; i++) {
            start("counter-" + i, () -> {
                try {
                    while (left.getAndDecrement() > 0) {
                        latch.countDown();
                    }
                } catch (RuntimeException e) {
                    say("FAILED " + e);
                }
                if (working.decrementAndGet() == 0) {
                    say("COUNTED " + Monotonic.nanos());
                }
            });
        }
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(null, task, name, STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
    }
}
