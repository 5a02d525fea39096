package dev.interlock.simulation;

import dev.interlock.ratelimit.RateLimit;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Sees how many permits of one rate limiter threads have got, and says when there can't have been so many. */
final class RateWitness implements Witness {
    private final Scheduler scheduler;
    private final Trace trace;
    private final RateLimit limit;
    private final boolean isExact;
    private long granted;
    private long entries;

    /**
     * Creates the witness of a rate limiter.
     *
     * @param isExact whether nothing happens that makes Redis forget what it has granted
     */
    RateWitness(Scheduler scheduler, Trace trace, RateLimit limit, boolean isExact) {
        this.scheduler = scheduler;
        this.trace = trace;
        this.limit = limit;
        this.isExact = isExact;
    }

    RateLimit limit() {
        return limit;
    }

    /** A thread has permits, and has waited for them. */
    void granted(Actor actor, long permits) {
        trace.add(actor.jvm(), "has %d permits of the rate limit", permits);
        entries++;
        granted += permits;
        if (isExact && granted > most()) {
            throw new Violation(String.format(
                    Locale.ROOT,
                    "%d permits of %s were granted within %d ms, and not %d",
                    granted,
                    limit,
                    TimeUnit.NANOSECONDS.toMillis(scheduler.nanos()),
                    most()));
        }
    }

    // What has come since the beginning. A fixed window begins with a request; a sliding one may lie across two.
    private long most() {
        double windows = (double) scheduler.nanos() / limit.window().toNanos();
        return switch (limit.algorithm()) {
            case TOKEN_BUCKET -> limit.burst() + (long) Math.ceil(windows * limit.permits());
            case FIXED_WINDOW, SLIDING_WINDOW -> (2 + (long) windows) * limit.permits();
        };
    }

    @Override
    public void ended(Actor actor) {
        // What was granted stays so.
    }

    @Override
    public List<Op> rescue(int subject) {
        return List.of();
    }

    // However much was charged for nobody, by then it is over.
    @Override
    public List<Op> finale(int subject) {
        return List.of(new Op(Call.TAKE_WHOLE_RATE, subject, 0, 0, 0));
    }

    @Override
    public long entries() {
        return entries;
    }
}
