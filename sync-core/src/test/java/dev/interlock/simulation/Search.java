package dev.interlock.simulation;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.BinaryOperator;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Looks for a plan that fails, seed by seed, and says what came of it. */
final class Search {
    /**
     * What was found.
     *
     * @param seed that of the plan that fails
     * @param violation what it fails by
     * @param trace what happens in a plan that is made as small as possible
     */
    record Failure(long seed, Violation violation, Plan smallest, Trace trace) {
        @Override
        public String toString() {
            return "Seed " + seed + ": " + violation.getMessage() + "\n" + smallest + "\n" + trace;
        }
    }

    private static final long SHRINKING_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final LongFunction<Plan> plans;
    private final BinaryOperator<String> scriptChange;
    private final long shrinkingNanos;
    private long schedules;
    private long scripts;
    private long calls;
    private long entries;
    private long virtualNanos;
    private final long startNanos = System.nanoTime();

    /** Looks into the plans of these seeds, on the library as it is. */
    Search(LongFunction<Plan> plans) {
        this(plans, (script, text) -> text, SHRINKING_NANOS);
    }

    /**
     * Looks into the plans of these seeds.
     *
     * @param scriptChange changes the texts of scripts, given their name
     * @param shrinkingNanos how long it may take to make a plan that fails smaller
     */
    Search(LongFunction<Plan> plans, BinaryOperator<String> scriptChange, long shrinkingNanos) {
        this.plans = plans;
        this.scriptChange = scriptChange;
        this.shrinkingNanos = shrinkingNanos;
    }

    /** Returns the first failure from that seed on, or null if there is none within that time. */
    @Nullable
    Failure within(long firstSeed, long nanos) {
        long end = System.nanoTime() + nanos;
        for (long seed = firstSeed; System.nanoTime() - end < 0; seed++) {
            Failure failure = of(seed);
            if (failure != null) {
                return failure;
            }
        }
        return null;
    }

    /** Returns the failure of a seed, if it fails. */
    @Nullable
    Failure of(long seed) {
        Plan plan = plans.apply(seed);
        Simulation.Outcome outcome = Simulation.run(plan, false, scriptChange);
        schedules++;
        scripts += outcome.scripts();
        calls += outcome.calls();
        entries += outcome.entries();
        virtualNanos += outcome.virtualNanos();
        Violation violation = outcome.violation();
        if (violation == null) {
            return null;
        }
        Plan smallest = new Shrinker(this::fails, shrinkingNanos).shrink(plan);
        return new Failure(
                seed,
                violation,
                smallest,
                Simulation.run(smallest, true, scriptChange).trace());
    }

    private boolean fails(Plan plan) {
        return Simulation.run(plan, false, scriptChange).violation() != null;
    }

    /** Returns how much was looked into. */
    @Override
    public String toString() {
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        return String.format(
                Locale.ROOT,
                "%,d schedules, %,d calls, %,d entries, %,d scripts in %.1f s"
                        + " (%,.0f schedules a minute, %,.0f scripts a second), %,.0f s of virtual time",
                schedules,
                calls,
                entries,
                scripts,
                seconds,
                schedules / seconds * 60,
                scripts / seconds,
                virtualNanos / 1e9);
    }
}
