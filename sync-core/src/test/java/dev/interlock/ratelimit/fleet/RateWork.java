package dev.interlock.ratelimit.fleet;

import static java.util.Objects.requireNonNull;

import dev.interlock.Interlock;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Log;
import dev.interlock.testing.rig.LogFormat;
import dev.interlock.testing.rig.SessionWork;
import dev.interlock.testing.rig.Task;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Threads of a JVM whose clock is wrong ask a limiter of each kind for one permit after the other. */
final class RateWork extends SessionWork {

    /** How many threads of a JVM ask one limiter. */
    static final int THREADS = 4;

    private static final int WARM_UP = 50;

    /** After a refusal the machine has time for the others, for a moment; always for another time. */
    private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long MOST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(8);

    /** On a machine that is too busy to use up a limit in its time, threads go on for so long at the most. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** A call takes longer on such a machine, too, and a limiter throws when a command time-out is over. */
    private static final Duration LONGEST_CALL = Duration.ofSeconds(60);

    private final long runNanos;
    private final Map<Kind, RateLimiter> limiters = new EnumMap<>(Kind.class);

    /** When each thread has begun; 0 if it hasn't yet. */
    private final long[] begun;

    /** The limiters that have refused something. */
    private final Set<Kind> contended = ConcurrentHashMap.newKeySet();

    RateWork(Task task) {
        super(RedisServer.connect(() -> Interlock.builder()
                .uri(task.url())
                .commandTimeout(LONGEST_CALL)
                .ticker(skew(task).ticker())
                .open()));
        runNanos = task.duration(1).toNanos();
        begun = new long[task.threads()];
        for (Kind kind : Kind.values()) {
            RateLimiter cold = kind.of(interlock(), "cold-" + task.name()).prefetch(kind.ahead());
            for (int i = 0; i < WARM_UP; i++) {
                ask(kind, cold);
            }
            limiters.put(
                    kind, kind.of(interlock(), task.name()).prefetch(skew(task).ahead(kind)));
        }
    }

    private static Skew skew(Task task) {
        return Skew.parse(task.word(0));
    }

    /** Describes it. {@code time} is for how long each thread asks. */
    static Task task(String url, String name, Path file, Skew skew, Duration time) {
        return Task.of(RateWork.class, url, name, THREADS * Kind.values().length, file, skew.word(), time);
    }

    /** What a thread asks. */
    static Kind kind(int thread) {
        return List.of(Kind.values()).get(thread / THREADS);
    }

    @Override
    public LogFormat<?> format() {
        return Call.LOG;
    }

    @Override
    public boolean isOver(int thread) {
        if (begun[thread] == 0) {
            begun[thread] = Monotonic.nanos();
        }
        long elapsed = Monotonic.nanos() - begun[thread];
        return elapsed >= runNanos && (contended.contains(kind(thread)) || elapsed >= PATIENCE_NANOS);
    }

    @Override
    public void once(int thread, Log log) {
        Kind kind = kind(thread);
        long asked = Monotonic.nanos();
        int answer = ask(kind, requireNonNull(limiters.get(kind)));
        log.add(asked, Monotonic.nanos(), answer);
        if (answer == Call.REFUSED) {
            contended.add(kind);
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LEAST_PAUSE_NANOS, MOST_PAUSE_NANOS));
        }
    }

    private static int ask(Kind kind, RateLimiter limiter) {
        if (kind != Kind.FIXED) {
            return limiter.tryAcquire() ? Call.ADMITTED : Call.REFUSED;
        }
        Decision decision = limiter.decide(1);
        return decision.allowed() ? Math.toIntExact(decision.remaining()) : Call.REFUSED;
    }

    @Override
    public String toString() {
        return limiters.toString();
    }
}
