package dev.interlock.simulation;

import dev.interlock.internal.ratelimit.RequestQueues;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;

/** A rate limiter as the library makes it, and one over the same limit that takes permits ahead. */
final class RateSubject implements Subject {
    private static final long AHEAD = 3;

    private final RateWitness witness;
    private final RateLimiter limiter;
    private final RateLimiter prefetching;

    RateSubject(String name, RequestQueues queues, RateWitness witness) {
        this.witness = witness;
        this.limiter = queues.limiter(name, witness.limit());
        this.prefetching = limiter.prefetch(AHEAD);
    }

    /** Returns the limit of a name: as many permits as any other synchronizer has, in a short window. */
    static RateLimit limit(Plan plan, int subject) {
        int permits = 2 * plan.size(subject);
        Duration window = Duration.ofMillis(10 + 30 * (plan.seed() % 4));
        return switch ((int) (plan.seed() % 3)) {
            case 0 -> RateLimit.fixedWindow(permits, window);
            case 1 -> RateLimit.slidingWindow(permits, window);
            default -> RateLimit.tokenBucket(permits, window);
        };
    }

    @Override
    public void call(Op op, Worker worker) {
        long permits = 1 + op.holdNanos() % 2;
        boolean isGranted = true;
        switch (op.call()) {
            case ACQUIRE_RATE -> limiter.acquire(permits);
            case TRY_RATE -> isGranted = limiter.tryAcquire(permits);
            case TRY_RATE_TIMED -> isGranted = limiter.tryAcquire(permits, Duration.ofNanos(op.waitNanos()));
            case TRY_PREFETCHED -> isGranted = prefetching.tryAcquire(permits);
            case ACQUIRE_PREFETCHED -> prefetching.acquire(permits);
            case TAKE_WHOLE_RATE -> takeAll();
            default -> throw new IllegalArgumentException("no call of a rate limiter: " + op);
        }
        if (isGranted && op.call() != Call.TAKE_WHOLE_RATE) {
            witness.granted(worker.actor(), permits);
        }
    }

    private void takeAll() {
        long all = witness.limit().burst();
        if (!limiter.tryAcquire(all, witness.limit().window().multipliedBy(2))) {
            throw new Violation(limiter + " has no " + all + " permits, though nobody has asked for any lately");
        }
    }

    @Override
    public String toString() {
        return limiter.toString();
    }
}
