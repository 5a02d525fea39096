package dev.interlock.campaign;

import dev.interlock.campaign.Camp.Happening;
import dev.interlock.campaign.Lookout.Delay;
import dev.interlock.campaign.Step.Act;
import dev.interlock.campaign.Step.End;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Says what is wrong with a history. Steps are judged by what is certain: somebody had what he had from when he knew
 * until the last moment at which it was confirmed.
 *
 * <p>When Redis has lost all its data, or ends leases too early, nobody can know at once: until the leases of those who
 * were inside are over, others may get in beside them. These must have larger tokens, by which a store can tell.
 */
final class Judge {
    /** For so long a ticket may be on its way to Redis, where nothing goes wrong. */
    private static final long ARRIVAL_NANOS = Duration.ofMillis(800).toNanos();

    /**
     * So long after a fault its consequences may show: a ticket waits for the answer to the command before it, which is
     * delayed for as long as 1.5 s, or asked for again by the second pulse.
     */
    private static final long AFTERMATH_NANOS = Duration.ofSeconds(3).toNanos();

    private static final int MOST_SHOWN = 12;

    /** What is wrong, and the steps that show it. */
    record Complaint(String what, List<Step> steps) {}

    private final Map<Act, List<Step>> steps = new EnumMap<>(Act.class);
    private final List<Happening> happenings;
    private final List<Delay> delays;

    /** When those who look in a JVM saw that it, or its connection, was busy with something else. */
    private final Map<Integer, List<Delay>> slow = new HashMap<>();

    private final long longestWaitNanos;
    private final List<Complaint> complaints = new ArrayList<>();
    private long judgedInOrder;
    private long foreseen;

    /**
     * Takes what has happened.
     *
     * @param delays when Redis answered late, on a machine that was busy with something else
     * @param longestWaitNanos for which anybody may wait
     */
    Judge(List<Step> all, List<Happening> happenings, List<Delay> delays, long longestWaitNanos) {
        for (Act act : Act.values()) {
            steps.put(act, new ArrayList<>());
        }
        all.forEach(step -> of(step.act()).add(step));
        this.happenings = happenings;
        this.delays = delays;
        of(Act.LOOK).stream()
                .collect(Collectors.groupingBy(Step::jvm))
                .forEach((jvm, looks) -> slow.put(jvm, gaps(looks)));
        this.longestWaitNanos = longestWaitNanos;
    }

    private static List<Delay> gaps(List<Step> looks) {
        var gaps = new ArrayList<Delay>();
        long last = looks.get(0).begun();
        for (Step look : looks) {
            if (look.hasEntered()) {
                if (look.entered() - last > Lookout.LATE_NANOS) {
                    gaps.add(new Delay(last, look.entered()));
                }
                last = look.entered();
            }
        }
        return gaps;
    }

    private List<Step> of(Act act) {
        return steps.getOrDefault(act, List.of());
    }

    /** Judges everything. */
    List<Complaint> complaints(int permits, int parties) {
        for (Act act : Act.values()) {
            if (act.isExclusive) {
                List<Step> steps = exclusive(act);
                judgeExclusion(act == Act.WRITE ? entered(Act.WRITE, Act.READ) : steps);
                judgeTokens(steps);
            }
        }
        judgeOrder(of(Act.FAIR_LOCK));
        judgePermits(entered(Act.PERMITS), permits);
        judgeLatches(parties);
        judgeBarriers(of(Act.BARRIER), parties);
        judgeWaits();
        return complaints;
    }

    /** How many waits were judged for their order. */
    long judgedInOrder() {
        return judgedInOrder;
    }

    /** How many overlaps there were that a loss explains: of all data, or of permits. */
    long foreseen() {
        return foreseen;
    }

    /** How often a JVM led after another one. */
    long leaderChanges() {
        List<Step> terms = entered(Act.LEAD);
        return IntStream.range(1, terms.size())
                .filter(i -> terms.get(i).jvm() != terms.get(i - 1).jvm())
                .count();
    }

    /** Returns the steps of those who had what a lock gives, by that or by a hold. */
    private List<Step> exclusive(Act act) {
        return switch (act) {
            case LOCK -> entered(Act.LOCK, Act.HOLD, Act.HOLD_BOTH);
            case RETAINED_LOCK ->
                entered(Stream.of(of(act), of(Act.HOLD_RETAINED), seconds()).flatMap(List::stream));
            default -> entered(act);
        };
    }

    private List<Step> seconds() {
        return of(Act.HOLD_BOTH).stream().map(Step::ofSecondName).toList();
    }

    private List<Step> entered(Act... acts) {
        return entered(List.of(acts).stream().flatMap(act -> of(act).stream()));
    }

    private static List<Step> entered(Stream<Step> some) {
        return some.filter(Step::hasEntered)
                .sorted(Comparator.comparingLong(Step::entered).thenComparingLong(Step::until))
                .toList();
    }

    /** Nobody is inside beside another, unless both read. */
    private void judgeExclusion(List<Step> ordered) {
        Step longest = null;
        Step longestWrite = null;
        for (Step step : ordered) {
            Step inside = step.act() == Act.READ ? longestWrite : longest;
            if (inside != null && step.entered() < inside.until()) {
                if (isExplained(inside, step)) {
                    foreseen++;
                } else {
                    complain("two are inside at once", inside, step);
                }
            }
            longest = later(longest, step);
            longestWrite = step.act() == Act.READ ? longestWrite : later(longestWrite, step);
        }
    }

    private static Step later(@Nullable Step one, Step other) {
        return one == null || other.until() > one.until() ? other : one;
    }

    /**
     * Whether Redis had broken its promise to one of them, whose lease wasn't over for those who knew of no loss. That
     * is the one with the smaller token, or might be either.
     */
    private boolean isExplained(Step one, Step other) {
        if (one.token() != 0 && one.token() == other.token()) {
            return false;
        }
        boolean isKnown = one.token() != 0 && other.token() != 0;
        long stale = isKnown
                ? (one.token() < other.token() ? one : other).entered()
                : Math.max(one.entered(), other.entered());
        return isLossBetween(stale, Math.max(one.entered(), other.entered()));
    }

    /** Whether there was a loss before the end of that time, and not more than a lease before its beginning. */
    private boolean isLossBetween(long from, long to) {
        return happenings.stream()
                .anyMatch(happening ->
                        happening.fault().isLoss() && happening.from() < to && happening.to() + leaseNanos() > from);
    }

    private static long leaseNanos() {
        return CampaignWork.LEASE.toNanos();
    }

    /** Whoever asks after another has entered gets a larger token. */
    private void judgeTokens(List<Step> inOrderOfEntry) {
        List<Step> fenced =
                inOrderOfEntry.stream().filter(step -> step.token() != 0).toList();
        List<Step> inOrderOfRequest =
                fenced.stream().sorted(Comparator.comparingLong(Step::begun)).toList();
        Step largest = null;
        int next = 0;
        for (Step step : inOrderOfRequest) {
            while (next < fenced.size() && fenced.get(next).entered() < step.begun()) {
                Step before = fenced.get(next++);
                largest = largest == null || before.token() > largest.token() ? before : largest;
            }
            if (largest != null && step.token() <= largest.token()) {
                if (isExplained(largest, step)) {
                    foreseen++;
                    continue;
                }
                complain("the token of the later isn't larger", largest, step);
            }
        }
        Map<Long, List<Step>> byToken = fenced.stream().collect(Collectors.groupingBy(Step::token));
        byToken.values().stream()
                .filter(same -> same.size() > 1)
                .forEach(same -> complain("the same token twice", same.get(0), same.get(1)));
    }

    /** Where nothing goes wrong, nobody enters before those who have been waiting when he came. */
    private void judgeOrder(List<Step> all) {
        List<Step> queued = all.stream()
                .filter(step -> step.hasEntered() && step.number() != Worker.BARGING)
                .sorted(Comparator.comparingLong(Step::begun))
                .toList();
        for (int i = 0; i < queued.size(); i++) {
            Step first = queued.get(i);
            if (first.entered() - first.begun() < ARRIVAL_NANOS || isDisturbed(first)) {
                continue;
            }
            judgedInOrder++;
            for (int j = i + 1; j < queued.size() && queued.get(j).begun() < first.entered(); j++) {
                Step second = queued.get(j);
                if (second.begun() > first.begun() + ARRIVAL_NANOS && second.entered() < first.entered()) {
                    complain("overtaken in a fair queue", first, second);
                    break;
                }
            }
        }
    }

    private boolean isDisturbed(Step wait) {
        long to = wait.entered();
        long from = wait.begun() - AFTERMATH_NANOS;
        return happenings.stream().anyMatch(happening -> happening.from() < to && happening.to() > from)
                || Stream.concat(delays.stream(), slow.getOrDefault(wait.jvm(), List.of()).stream())
                        .anyMatch(delay -> delay.from() < to && delay.to() > from);
    }

    /** Never are more permits in use than there are. */
    private void judgePermits(List<Step> ordered, int permits) {
        List<Step> inside = new ArrayList<>();
        for (Step step : ordered) {
            inside.removeIf(other -> other.until() <= step.entered());
            inside.add(step);
            long used = inside.stream().mapToLong(Step::number).sum();
            if (used > permits) {
                long first = inside.stream().mapToLong(Step::begun).min().orElseThrow();
                if (used - toldToOthers(inside) <= permits || isLossBetween(first, step.entered())) {
                    foreseen++;
                } else {
                    complain(used + " permits of " + permits + " are in use", inside.toArray(Step[]::new));
                }
            }
        }
    }

    /**
     * Returns how many of these permits may have been lost without a word to those who had them. Permits of a JVM are
     * all alike: as many of its next releases are told of a loss, and these may be of threads that have got theirs
     * since.
     */
    private long toldToOthers(List<Step> holders) {
        List<Step> told = new ArrayList<>(
                of(Act.PERMITS).stream().filter(step -> step.end() == End.LOST).toList());
        long all = 0;
        for (Step holder : holders) {
            List<Step> instead = told.stream()
                    .filter(step -> step.jvm() == holder.jvm()
                            && step.entered() > holder.entered()
                            && step.entered() < holder.until() + AFTERMATH_NANOS)
                    .toList();
            if (instead.stream().mapToLong(Step::number).sum() >= holder.number()) {
                told.removeAll(instead);
                all += holder.number();
            }
        }
        return all;
    }

    /** Nobody passes a latch before it was counted down often enough. */
    private void judgeLatches(int count) {
        Map<Long, List<Step>> counted = of(Act.COUNT_DOWN).stream().collect(Collectors.groupingBy(Step::number));
        for (Step passed : entered(Act.AWAIT_LATCH)) {
            List<Step> before = counted.getOrDefault(passed.number(), List.of()).stream()
                    .filter(step -> step.begun() < passed.entered())
                    .toList();
            if (before.size() < count) {
                var shown = new ArrayList<>(before);
                shown.add(passed);
                complain("passed a latch after " + before.size() + " of " + count, shown.toArray(Step[]::new));
            }
        }
    }

    /**
     * Whoever passes a barrier has met all the others there, and none of them was told that the barrier is broken, but
     * where Redis has forgotten meanwhile that it wasn't.
     */
    private void judgeBarriers(List<Step> all, int parties) {
        for (Step passed : all) {
            if (passed.hasEntered()) {
                List<Step> met = all.stream()
                        .filter(step -> step.begun() < passed.entered() && end(step) > passed.begun())
                        .toList();
                List<Step> whole =
                        met.stream().filter(step -> step.end() != End.BROKEN).toList();
                if (threads(whole) >= parties) {
                    continue;
                }
                long told = met.stream()
                        .filter(step -> step.end() == End.BROKEN)
                        .mapToLong(Judge::end)
                        .max()
                        .orElse(0);
                if (threads(met) >= parties && isLossBetween(passed.begun(), told)) {
                    foreseen++;
                } else {
                    complain("passed a barrier with " + threads(whole) + " of " + parties, met.toArray(Step[]::new));
                }
            }
        }
    }

    private static long threads(List<Step> steps) {
        return steps.stream()
                .map(step -> step.jvm() + ":" + step.thread())
                .distinct()
                .count();
    }

    /** When a step was over; those that never were may have gone on for ever. */
    private static long end(Step step) {
        return step.end() == End.NEVER || step.end() == End.GAVE_UP
                ? Long.MAX_VALUE
                : Math.max(step.entered(), step.until());
    }

    /** Nobody waits for ever. */
    private void judgeWaits() {
        for (Act act : Act.values()) {
            for (Step step : entered(act)) {
                if (step.entered() - step.begun() > longestWaitNanos) {
                    complain("waited for too long", step);
                }
            }
        }
    }

    private void complain(String what, Step... culprits) {
        complaints.add(new Complaint(what, List.of(culprits)));
    }

    /** Returns a complaint with what was going on around it: other steps of the kind, and faults. */
    String story(Complaint complaint) {
        long from = complaint.steps.stream().mapToLong(Step::begun).min().orElseThrow();
        long to = complaint.steps.stream()
                .mapToLong(step -> Math.max(step.entered(), step.until()))
                .max()
                .orElseThrow();
        Step last = complaint.steps.get(complaint.steps.size() - 1);
        var text = new StringBuilder(complaint.what).append(":\n");
        complaint.steps.forEach(step -> text.append("  ").append(step).append('\n'));
        text.append("among\n");
        complaint.steps.stream()
                .map(Step::act)
                .distinct()
                .flatMap(act -> of(act).stream())
                .filter(step -> Math.max(step.entered(), step.until()) >= from && step.begun() <= to)
                .sorted(Comparator.comparingLong((Step step) -> Math.abs(step.entered() - last.entered())))
                .limit(MOST_SHOWN)
                .sorted(Comparator.comparingLong(Step::begun))
                .forEach(step -> text.append("  ").append(step).append('\n'));
        happenings.stream()
                .filter(happening -> happening.from() <= to && happening.to() + leaseNanos() >= from)
                .forEach(happening -> text.append(
                        String.format("  %,18d … %,18d  %s%n", happening.from(), happening.to(), happening.fault())));
        delays.stream()
                .filter(delay -> delay.from() <= to && delay.to() >= from)
                .forEach(delay -> text.append(
                        String.format("  %,18d … %,18d  no answer from Redis%n", delay.from(), delay.to())));
        complaint.steps.stream()
                .map(Step::jvm)
                .distinct()
                .forEach(jvm -> slow.getOrDefault(jvm, List.of()).stream()
                        .filter(delay -> delay.from() <= to && delay.to() >= from)
                        .forEach(delay -> text.append(
                                String.format("  %,18d … %,18d  jvm %d was slow%n", delay.from(), delay.to(), jvm))));
        return text.toString();
    }
}
