package dev.interlock.ratelimit.fleet;

import dev.interlock.Interlock;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A child JVM whose threads ask all limiters for one permit after the other, and record every answer.
 *
 * <p>It says {@code READY}, at {@code go} it begins, and it says {@code DONE} when all is written down.
 */
final class RateHammer {

    /** How many threads of a JVM ask one limiter. */
    static final int THREADS = 4;

    private static final int WARM_UP = 50;

    /** Who was refused pauses for a moment, so that the machine has time for the others; always for another time. */
    private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long MOST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(8);

    private final Kind kind;
    private final RateLimiter limiter;
    private final long runNanos;
    private final List<Call> calls = new ArrayList<>();
    private final Thread thread = new Thread(this::hammer);

    /** What the threads of a child have to do. */
    record Task(Skew skew, long seconds, Path file) {

        private static Task parse(String line) {
            String[] words = line.split(" ", 3);
            return new Task(Skew.parse(words[0]), Long.parseLong(words[1]), Path.of(words[2]));
        }

        private String line() {
            return skew.word() + " " + seconds + " " + file;
        }

        /**
         * How many permits the child takes ahead. It uses them by its own clock, which may be wrong, but may not be
         * slow.
         */
        long ahead(Kind kind) {
            return skew.pace() < 1 ? 1 : kind.ahead();
        }
    }

    private RateHammer(Kind kind, RateLimiter limiter, long runNanos) {
        this.kind = kind;
        this.limiter = limiter;
        this.runNanos = runNanos;
    }

    static ChildJvm.Builder of(String url, String name, Task task) {
        return ChildJvm.of(RateHammer.class).options("-XX:TieredStopAtLevel=1").arguments(url, name, task.line());
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        Task task = Task.parse(args[2]);
        try (Interlock interlock =
                Interlock.builder().uri(args[0]).ticker(task.skew.ticker()).open()) {
            List<RateHammer> hammers = new ArrayList<>();
            for (Kind kind : Kind.values()) {
                RateLimiter cold = kind.of(interlock, "cold-" + args[1]).prefetch(kind.ahead());
                for (int i = 0; i < WARM_UP; i++) {
                    ask(kind, cold);
                }
                RateLimiter limiter = kind.of(interlock, args[1]).prefetch(task.ahead(kind));
                for (int i = 0; i < THREADS; i++) {
                    hammers.add(new RateHammer(kind, limiter, TimeUnit.SECONDS.toNanos(task.seconds)));
                }
            }
            ChildConsole.say("READY");
            ChildConsole.readCommand();
            hammers.forEach(hammer -> hammer.thread.start());
            Map<Kind, List<Call>> calls = new EnumMap<>(Kind.class);
            for (RateHammer hammer : hammers) {
                hammer.thread.join();
                calls.computeIfAbsent(hammer.kind, any -> new ArrayList<>()).addAll(hammer.calls);
            }
            Call.write(task.file, calls);
        }
        ChildConsole.say("DONE");
    }

    private void hammer() {
        long start = Monotonic.nanos();
        for (long begun = start; begun - start < runNanos; begun = Monotonic.nanos()) {
            int answer = ask(kind, limiter);
            long ended = Monotonic.nanos();
            calls.add(new Call(0, begun, ended, answer));
            if (answer == Call.REFUSED) {
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LEAST_PAUSE_NANOS, MOST_PAUSE_NANOS));
            }
        }
    }

    private static int ask(Kind kind, RateLimiter limiter) {
        if (kind != Kind.FIXED) {
            return limiter.tryAcquire() ? Call.ADMITTED : Call.REFUSED;
        }
        Decision decision = limiter.decide(1);
        return decision.allowed() ? Math.toIntExact(decision.remaining()) : Call.REFUSED;
    }
}
