package dev.interlock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * All that a simulation is given. What it doesn't say, such as the delay of a message, is drawn from the seed.
 *
 * @param subjects what threads share, by number
 * @param programs of each JVM: of each of its threads: its calls
 */
record Plan(
        long seed,
        List<Kind> subjects,
        long leaseMillis,
        long commandTimeoutMillis,
        long sliceNanos,
        List<List<List<Op>>> programs,
        List<Fault> faults) {

    private static final long MILLI = 1_000_000;

    /** Returns the plan of a seed. */
    static Plan of(long seed) {
        return of(seed, Kind.values());
    }

    /** Returns the plan of a seed, in which threads share nothing but that. */
    static Plan of(long seed, Kind... kinds) {
        SplittableRandom random = new SplittableRandom(seed);
        return of(seed, 2 + random.nextInt(2), 1 + random.nextInt(3), 5 + random.nextInt(25), random, kinds);
    }

    /** Returns the plan of a seed, with so many JVMs, threads and calls of each. */
    static Plan of(long seed, int jvms, int threads, int calls) {
        return of(seed, jvms, threads, calls, new SplittableRandom(seed), Kind.values());
    }

    private static Plan of(long seed, int jvms, int threads, int calls, SplittableRandom random, Kind... kinds) {
        List<Kind> subjects = new ArrayList<>();
        List<Call[]> used = new ArrayList<>();
        int names = 1 + random.nextInt(2);
        for (int i = 0; i < names; i++) {
            Kind kind = one(random, kinds);
            subjects.add(kind);
            used.add(some(random, kind.calls().toArray(Call[]::new)).toArray(Call[]::new));
        }
        long lease = one(random, 1_000L, 3_000L, 10_000L, 30_000L);
        long timeout = one(random, 300L, 1_000L, 3_000L);
        long slice = one(random, 1L, 10L, 100L) * MILLI;
        long longest = one(random, MILLI / 10, 2 * MILLI, 20 * MILLI);
        List<List<List<Op>>> programs = new ArrayList<>();
        for (int jvm = 0; jvm < jvms; jvm++) {
            List<List<Op>> ofJvm = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                ofJvm.add(program(random, calls, used, longest));
            }
            programs.add(ofJvm);
        }
        long duration = calls * threads * jvms * longest / 2;
        List<Fault> faults = random.nextInt(5) == 0 ? List.of() : faults(random, jvms, threads, lease, duration);
        return new Plan(seed, subjects, lease, timeout, slice, programs, faults);
    }

    private static List<Op> program(
            SplittableRandom random, int calls, List<Call[]> callsOfSubjects, long longestNanos) {
        List<Op> program = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            int subject = random.nextInt(callsOfSubjects.size());
            Call call = one(random, callsOfSubjects.get(subject));
            long wait = call == Call.LOCK_WITH_LEASE
                    ? random.nextLong(100 * MILLI, 4_000 * MILLI)
                    : spread(random, MILLI / 10, 500 * MILLI);
            long think = random.nextInt(4) == 0 ? 0 : random.nextLong(2 * longestNanos);
            long hold = random.nextInt(4) == 0 ? 0 : random.nextLong(longestNanos);
            program.add(new Op(call, subject, think, hold, wait));
        }
        return program;
    }

    private static List<Fault> faults(
            SplittableRandom random, int jvms, int threads, long leaseMillis, long durationNanos) {
        Fault.Kind[] kinds = some(random, Fault.Kind.values()).stream()
                .filter(kind -> !kind.losesData() || random.nextInt(3) == 0)
                .toArray(Fault.Kind[]::new);
        List<Fault> faults = new ArrayList<>();
        int count = kinds.length == 0 ? 0 : 1 + random.nextInt(12);
        for (int i = 0; i < count; i++) {
            Fault.Kind kind = one(random, kinds);
            long at = random.nextLong(Math.max(durationNanos, 50 * MILLI));
            long most = kind == Fault.Kind.FREEZE ? 2 * leaseMillis * MILLI : 2_000 * MILLI;
            int target = random.nextInt(kind == Fault.Kind.INTERRUPT ? jvms * threads : jvms);
            faults.add(new Fault(kind, target, at, spread(random, MILLI / 10, most)));
        }
        return faults;
    }

    @SafeVarargs
    private static <T> T one(SplittableRandom random, T... choice) {
        return choice[random.nextInt(choice.length)];
    }

    @SafeVarargs
    private static <T> Set<T> some(SplittableRandom random, T... choice) {
        int chance = 1 + random.nextInt(3);
        Set<T> some = java.util.Arrays.stream(choice)
                .filter(one -> random.nextInt(4) < chance)
                .collect(Collectors.toCollection(java.util.LinkedHashSet::new));
        some.add(one(random, choice));
        return some;
    }

    /** Returns a number whose logarithm is evenly distributed. */
    private static long spread(SplittableRandom random, long least, long most) {
        return (long) (least * Math.pow((double) most / least, random.nextDouble()));
    }

    /** Returns how many permits, count-downs or parties a subject has. */
    int size(int subject) {
        return 1 + (int) Math.floorMod(seed / 7 + subject, 4L);
    }

    /** Returns how many parties a barrier has. */
    int parties(int subject) {
        return Math.min(size(subject), programs.size() * programs.get(0).size());
    }

    /** Returns whether a barrier has an action. */
    boolean acts() {
        return seed % 2 == 0;
    }

    /** Returns whether Redis may forget who owns what. */
    boolean losesData() {
        return faults.stream().anyMatch(fault -> fault.kind().losesData());
    }

    /** Returns when the last fault is over. */
    long faultsEndNanos() {
        return faults.stream().mapToLong(Fault::endNanos).max().orElse(0);
    }

    Plan with(List<List<List<Op>>> otherPrograms, List<Fault> otherFaults) {
        return new Plan(seed, subjects, leaseMillis, commandTimeoutMillis, sliceNanos, otherPrograms, otherFaults);
    }
}
