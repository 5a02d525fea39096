package dev.interlock.simulation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * All that a simulation is given. What it doesn't say, such as the delay of a message, is drawn from the seed.
 *
 * @param subjects what threads share, by number
 * @param leasesMillis the leases of each JVM's sessions
 * @param programs of each JVM: of each of its threads: its calls
 */
record Plan(
        long seed,
        List<Kind> subjects,
        List<Long> leasesMillis,
        long commandTimeoutMillis,
        long sliceNanos,
        List<List<List<Op>>> programs,
        List<Fault> faults,
        List<Trait> traits) {

    private static final long MILLI = 1_000_000;
    private static final List<Long> LEASES = List.of(1_000L, 3_000L, 10_000L, 30_000L);
    private static final List<Long> FIXED_LEASES = List.of(100L, 400L, 1_000L, 4_000L);

    Plan(
            long seed,
            List<Kind> subjects,
            List<Long> leasesMillis,
            long commandTimeoutMillis,
            long sliceNanos,
            List<List<List<Op>>> programs,
            List<Fault> faults) {
        this(seed, subjects, leasesMillis, commandTimeoutMillis, sliceNanos, programs, faults, Focus.NONE.traits());
    }

    /** Returns the plan of a seed. */
    static Plan of(long seed) {
        return of(seed, Focus.NONE);
    }

    /** Returns the plan of a seed that is about nothing else. */
    static Plan of(long seed, Focus focus) {
        SplittableRandom random = new SplittableRandom(seed);
        return of(seed, 2 + random.nextInt(2), 1 + random.nextInt(3), 5 + random.nextInt(25), random, focus);
    }

    /** Returns the plan of a seed, with so many JVMs, threads and calls of each. */
    static Plan of(long seed, int jvms, int threads, int calls, Focus focus) {
        return of(seed, jvms, threads, calls, new SplittableRandom(seed), focus);
    }

    private static Plan of(long seed, int jvms, int threads, int calls, SplittableRandom random, Focus focus) {
        List<Kind> subjects = new ArrayList<>();
        List<List<Call>> used = new ArrayList<>();
        int names = 1 + random.nextInt(2);
        for (int i = 0; i < names; i++) {
            Kind kind = one(random, focus.kinds());
            subjects.add(kind);
            used.add(calls(random, focus.calls(kind)));
        }
        List<Long> leases = leases(random, jvms);
        long lease = Collections.max(leases);
        long timeout = one(random, List.of(300L, 1_000L, 3_000L));
        long slice = one(random, List.of(1L, 10L, 100L)) * MILLI;
        long longest = one(random, List.of(MILLI / 10, 2 * MILLI, 20 * MILLI));
        long longHold = random.nextInt(4) == 0 ? 2 * lease * MILLI : 0;
        List<List<List<Op>>> programs = new ArrayList<>();
        for (int jvm = 0; jvm < jvms; jvm++) {
            List<List<Op>> ofJvm = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                ofJvm.add(program(random, calls, used, longest, longHold));
            }
            programs.add(ofJvm);
        }
        Plan plan = new Plan(seed, subjects, leases, timeout, slice, programs, List.of(), focus.traits());
        return random.nextInt(5) == 0 || focus.faults().isEmpty()
                ? plan
                : plan.with(programs, faults(random, focus, jvms, threads, lease, plan.holdsNanos() / 2));
    }

    // Some of them, anywhere in the list or next to each other: that have to do with each other.
    private static List<Call> calls(SplittableRandom random, List<Call> all) {
        if (random.nextInt(3) > 0 || all.size() < 2) {
            return some(random, all);
        }
        int from = random.nextInt(all.size() - 1);
        return all.subList(from, Math.min(all.size(), from + 2 + random.nextInt(2)));
    }

    // The same one, more often than not.
    private static List<Long> leases(SplittableRandom random, int jvms) {
        List<Long> leases = new ArrayList<>(Collections.nCopies(jvms, one(random, LEASES)));
        if (random.nextInt(3) == 0) {
            leases.replaceAll(lease -> one(random, LEASES));
        }
        return leases;
    }

    private static List<Op> program(
            SplittableRandom random,
            int calls,
            List<List<Call>> callsOfSubjects,
            long longestNanos,
            long longHoldNanos) {
        List<Op> program = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            int subject = random.nextInt(callsOfSubjects.size());
            Call call = one(random, callsOfSubjects.get(subject));
            long wait = call.isLeased() ? one(random, FIXED_LEASES) * MILLI : spread(random, MILLI / 10, 500 * MILLI);
            long think = random.nextInt(4) == 0 ? 0 : random.nextLong(2 * longestNanos);
            boolean isLong = longHoldNanos > 0 && random.nextInt(5) == 0;
            long hold = random.nextInt(4) == 0 ? 0 : random.nextLong(isLong ? longHoldNanos : longestNanos);
            program.add(new Op(call, subject, think, hold, wait));
        }
        return program;
    }

    private static List<Fault> faults(
            SplittableRandom random, Focus focus, int jvms, int threads, long leaseMillis, long durationNanos) {
        List<Fault.Kind> kinds = some(random, focus.faults()).stream()
                .filter(kind -> !kind.losesData() || random.nextInt(3) == 0)
                .toList();
        List<Fault> faults = new ArrayList<>();
        int count = kinds.isEmpty() ? 0 : 1 + random.nextInt(12);
        for (int i = 0; i < count; i++) {
            Fault.Kind kind = one(random, kinds);
            long at = random.nextLong(Math.max(durationNanos, 50 * MILLI));
            long most = kind.stops() ? 2 * leaseMillis * MILLI : 2_000 * MILLI;
            int target = random.nextInt(kind == Fault.Kind.INTERRUPT ? jvms * threads : jvms);
            faults.add(new Fault(kind, target, at, spread(random, MILLI / 10, most)));
        }
        return faults;
    }

    private static <T> T one(SplittableRandom random, List<T> choice) {
        return choice.get(random.nextInt(choice.size()));
    }

    private static <T> List<T> some(SplittableRandom random, List<T> choice) {
        int chance = 1 + random.nextInt(3);
        Set<T> some = choice.stream()
                .filter(one -> random.nextInt(4) < chance)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        some.add(one(random, choice));
        return List.copyOf(some);
    }

    /** Returns a number whose logarithm is evenly distributed. */
    private static long spread(SplittableRandom random, long least, long most) {
        return (long) (least * StrictMath.pow((double) most / least, random.nextDouble()));
    }

    /** Returns how many permits, count-downs or parties a subject has. */
    int size(int subject) {
        return 1 + (int) Math.floorMod(seed / 7 + subject, 4L);
    }

    /** Returns whether the permits of a semaphore belong to sessions. */
    boolean ownsPermits(int subject) {
        return Math.floorMod(seed / 3 + subject, 3L) > 0;
    }

    /** Returns how many threads there are. */
    int threads() {
        return programs.stream().mapToInt(List::size).sum();
    }

    /** Returns how many parties a barrier has. */
    int parties(int subject) {
        return Math.min(size(subject), threads());
    }

    /** Returns whether a barrier has an action. */
    boolean acts() {
        return seed % 2 == 0;
    }

    /** Returns whether sessions keep the names of plain locks where that pays. */
    boolean retainsAdaptively() {
        return seed % 2 == 0;
    }

    /** Returns whether other threads get on while a task of a session runs. */
    boolean preemptsTasks() {
        return traits.contains(Trait.TASKS_ARE_PREEMPTED);
    }

    /** Returns whether threads that unlock wait until Redis has confirmed that. */
    boolean confirmsUnlocks() {
        return seed % 8 < 2;
    }

    /** Returns how many names a session asks about in a second: few, or more than it waits for. */
    int namesASecond() {
        return seed % 5 == 0 ? 1 : 100;
    }

    /** Returns whether Redis may forget who owns what. */
    boolean losesData() {
        return faults.stream().anyMatch(fault -> fault.kind().losesData());
    }

    /** Returns whether Redis refuses something until somebody mends that. */
    boolean refusesForGood() {
        return faults.stream().anyMatch(fault -> fault.kind().lasts());
    }

    /** Returns whether no thread unlocks what it has lost without hearing of that. */
    boolean noticesLosses() {
        return !losesData() && faults.stream().noneMatch(fault -> fault.kind() == Fault.Kind.SUSPENSION);
    }

    /** Returns whether fencing tokens increase whatever happens: the clock of Redis does, or nothing else is lost. */
    boolean tokensIncrease() {
        List<Fault.Kind> losses = faults.stream()
                .map(Fault::kind)
                .filter(Fault.Kind::losesData)
                .distinct()
                .toList();
        return traits.contains(Trait.TOKENS_OUTLIVE_LOSSES)
                && (losses.size() < 2 || !losses.contains(Fault.Kind.CLOCK_STEP));
    }

    /** Returns which of so many nodes of a quorum a fault strikes. */
    int node(Fault fault, int nodes) {
        return (int) Math.floorMod(strikesOneNode() ? seed / 2 : fault.atNanos() / 2, (long) nodes);
    }

    /** Returns whether it strikes one JVM's connection to all nodes. */
    boolean strikesAllNodes(Fault fault) {
        return !strikesOneNode() && fault.atNanos() % 2 == 0;
    }

    /** Returns whether all that goes wrong with nodes of a quorum, and on the way to them, goes wrong with one. */
    private boolean strikesOneNode() {
        return seed % 2 == 0;
    }

    /** Returns whether a majority of a quorum's nodes can be reached at any time, and forgets nothing. */
    boolean sparesMajority() {
        return strikesOneNode()
                && faults.stream()
                        .map(Fault::kind)
                        .noneMatch(kind -> kind.losesData() || kind.stops() || kind == Fault.Kind.CLOSE);
    }

    /**
     * Returns whether the order of threads is that of their calls: nothing goes wrong, and nobody is still inside when
     * its fixed lease ends. The session of such a thread gives its next grant back.
     */
    boolean keepsOrder() {
        return faults.isEmpty()
                && programs.stream()
                        .flatMap(List::stream)
                        .flatMap(List::stream)
                        .noneMatch(op ->
                                op.call().outstays() || (op.call().isLeased() && op.holdNanos() >= op.waitNanos() / 2));
    }

    /** Returns whether an operator takes a lock away. */
    boolean evicts(int subject) {
        return programs.stream()
                .flatMap(List::stream)
                .flatMap(List::stream)
                .anyMatch(op -> op.subject() == subject && op.call().isTakenAway());
    }

    /** Returns whether threads call this of a subject. */
    boolean calls(int subject, Call call) {
        return programs.stream()
                .flatMap(List::stream)
                .flatMap(List::stream)
                .anyMatch(op -> op.subject() == subject && op.call() == call);
    }

    /** Returns how long threads keep what they get, all together; some calls keep two things, one after the other. */
    long holdsNanos() {
        return programs.stream()
                .flatMap(List::stream)
                .flatMap(List::stream)
                .mapToLong(Op::nanos)
                .sum();
    }

    /** Returns when the last fault is over. */
    long faultsEndNanos() {
        return faults.stream().mapToLong(Fault::endNanos).max().orElse(0);
    }

    Plan with(List<List<List<Op>>> otherPrograms, List<Fault> otherFaults) {
        return new Plan(
                seed, subjects, leasesMillis, commandTimeoutMillis, sliceNanos, otherPrograms, otherFaults, traits);
    }
}
