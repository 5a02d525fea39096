package dev.interlock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Makes a plan that fails smaller: takes out faults, JVMs, threads and calls as long as it still fails, halves first,
 * as in Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002).
 */
final class Shrinker {
    private final Predicate<Plan> fails;
    private final long endNanos;

    /**
     * Creates a shrinker.
     *
     * @param fails whether a plan still fails
     * @param nanos how long it may take
     */
    Shrinker(Predicate<Plan> fails, long nanos) {
        this.fails = fails;
        this.endNanos = System.nanoTime() + nanos;
    }

    /** Returns the smallest plan that it finds. */
    Plan shrink(Plan failing) {
        Plan smallest = failing;
        Plan before;
        do {
            before = smallest;
            smallest = withFewerFaults(smallest);
            smallest = withFewerCalls(smallest);
        } while (!smallest.equals(before) && hasTime());
        return smallest;
    }

    private Plan withFewerFaults(Plan plan) {
        List<Fault> faults = fewer(plan.faults(), fewer -> plan.with(plan.programs(), fewer));
        return faults.size() < plan.faults().size() ? plan.with(plan.programs(), faults) : plan;
    }

    private Plan withFewerCalls(Plan plan) {
        Plan smaller = plan;
        for (int jvm = 0; jvm < plan.programs().size(); jvm++) {
            for (int thread = 0; thread < plan.programs().get(jvm).size(); thread++) {
                smaller = withFewerCalls(smaller, jvm, thread);
            }
        }
        return smaller;
    }

    // The numbers of JVMs and threads stay: faults are theirs.
    private Plan withFewerCalls(Plan plan, int jvm, int thread) {
        List<Op> calls = plan.programs().get(jvm).get(thread);
        List<Op> fewer = fewer(calls, some -> with(plan, jvm, thread, some));
        return fewer.size() < calls.size() ? with(plan, jvm, thread, fewer) : plan;
    }

    private static Plan with(Plan plan, int jvm, int thread, List<Op> calls) {
        List<List<List<Op>>> programs = new ArrayList<>(plan.programs());
        List<List<Op>> ofJvm = new ArrayList<>(programs.get(jvm));
        ofJvm.set(thread, calls);
        programs.set(jvm, ofJvm);
        return plan.with(programs, plan.faults());
    }

    private interface Composer<T> {
        Plan plan(List<T> items);
    }

    private <T> List<T> fewer(List<T> items, Composer<T> composer) {
        List<T> fewer = items;
        for (int size = Math.max(1, items.size()); size > 0; size /= 2) {
            for (int from = 0; from < fewer.size(); ) {
                List<T> without = new ArrayList<>(fewer.subList(0, from));
                without.addAll(fewer.subList(Math.min(fewer.size(), from + size), fewer.size()));
                if (hasTime() && stillFails(composer.plan(without))) {
                    fewer = without;
                } else {
                    from += size;
                }
            }
        }
        return fewer;
    }

    private boolean hasTime() {
        return System.nanoTime() - endNanos < 0;
    }

    private boolean stillFails(Plan plan) {
        return fails.test(plan);
    }
}
