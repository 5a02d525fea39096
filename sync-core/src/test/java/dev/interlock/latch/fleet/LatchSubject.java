package dev.interlock.latch.fleet;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.testing.Crew;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.rig.Session;
import dev.interlock.testing.rig.Subject;
import dev.interlock.testing.rig.Verbs;
import java.time.Duration;
import java.util.LongSummaryStatistics;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A latch with some count, which many threads of a JVM wait for or count down. */
final class LatchSubject implements Subject {

    /** Longer than any test. */
    private static final Duration END = Duration.ofMinutes(10);

    static String key(String name) {
        return "interlock:{" + name + "}:latch";
    }

    @Override
    public long waiting(Keyspace keyspace, String name) {
        return keyspace.server().command("ZCARD", "interlock:waiters:" + key(name)) instanceof Long waiting
                ? waiting
                : -1;
    }

    @Override
    public Verbs open(Session session) {
        int count = Integer.parseInt(session.words().get(0));
        DistributedCountDownLatch latch = session.interlock().countDownLatch(session.name(), count);
        return new Verbs()
                .on("wait", words -> await(latch, Integer.parseInt(words.get(0)), session))
                .on("count", words -> count(latch, Integer.parseInt(words.get(0)), Integer.parseInt(words.get(1))))
                .on("remaining", words -> "REMAINING " + latch.getCount());
    }

    /**
     * Threads wait; when the last has passed, the parent hears how many have, and when the first and the last did. It
     * also hears when all are about to wait.
     */
    private static String await(DistributedCountDownLatch latch, int threads, Session session)
            throws InterruptedException {
        Queue<Long> passed = new ConcurrentLinkedQueue<>();
        var ready = new CountDownLatch(threads);
        var crew = new Crew();
        for (int i = 0; i < threads; i++) {
            crew.start(() -> {
                ready.countDown();
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException("Nobody interrupts this", e);
                }
                passed.add(Monotonic.nanos());
            });
        }
        ready.await();
        session.say(Thread.currentThread().getName() + " WAITING");
        crew.join(END);
        LongSummaryStatistics times = passed.stream().mapToLong(Long::longValue).summaryStatistics();
        return "PASSED " + passed.size() + " " + times.getMin() + " " + times.getMax();
    }

    /** Threads count down so often between them. */
    private static String count(DistributedCountDownLatch latch, int times, int threads) {
        var left = new AtomicInteger(times);
        var crew = new Crew();
        for (int i = 0; i < threads; i++) {
            crew.start(() -> {
                while (left.getAndDecrement() > 0) {
                    latch.countDown();
                }
            });
        }
        crew.join(END);
        return "COUNTED";
    }
}
