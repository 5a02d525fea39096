package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.contestants.CounterFile;
import dev.interlock.benchmarks.contestants.Ledger.Timing;
import dev.interlock.benchmarks.play.Meter.Reading;
import dev.interlock.benchmarks.play.Site.Round;
import dev.interlock.benchmarks.play.Site.Tally;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.scenarios.Scenario;
import dev.interlock.benchmarks.scenarios.Scenario.Measure;
import dev.interlock.benchmarks.scenarios.Scenario.Pace;
import dev.interlock.benchmarks.scenarios.Scenarios;
import dev.interlock.testing.Monotonic;
import java.io.Serial;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Plays a scenario: the contestants take turns in short rounds, so that whatever slows the machine down meets them all,
 * and each begins as often as the others. After every round the site's sum is compared with what the threads have
 * booked, no reader may have seen a writer at work, and a number in a file to which the sections add has to be as large
 * as the accounts.
 *
 * <p>What a contestant leaves behind in the background is paid for by all of them: Redisson 4.7.0 goes on renewing long
 * released locks, thousands of commands every ten seconds. Each contestant has its own client, but there is one Redis.
 */
final class Contest {

    private static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long THREAD_NANOS = TimeUnit.MICROSECONDS.toNanos(300);
    private static final int ORDER_ROUNDS = 3;
    private static final long ORDER_NANOS = TimeUnit.MILLISECONDS.toNanos(2_000);
    private static final long STAY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Scenario scenario;
    private final Site site;
    private final @Nullable Meter meter;
    private final Consumer<String> progress;
    private final String run = UUID.randomUUID().toString();
    private final Map<String, Recording> recordings = new HashMap<>();
    private @Nullable Path counter;
    private long booked;

    /** A contest in which nobody looks what Redis does. */
    Contest(Scenario scenario, Site site, Consumer<String> progress) {
        this(scenario, site, null, progress);
    }

    Contest(Scenario scenario, Site site, @Nullable Meter meter, Consumer<String> progress) {
        this.scenario = scenario;
        this.site = site;
        this.meter = meter;
        this.progress = progress;
    }

    /**
     * Plays all rounds.
     *
     * @return one measurement per contestant, ours first
     * @throws BrokenExclusionException if a contestant let two threads into its critical section, or a reader beside a
     *     writer
     * @throws BrokenOrderException if hand-offs are measured and ours doesn't alternate between two JVMs that both wait
     */
    List<Measurement> play(Pace pace) {
        if (!scenario.setting().isCounting()) {
            return rounds(pace);
        }
        Path file = CounterFile.create();
        counter = file;
        try {
            return rounds(pace);
        } finally {
            CounterFile.delete(file);
        }
    }

    private List<Measurement> rounds(Pace pace) {
        scenario.contestants().forEach(site::open);
        for (int i = 0; i < pace.warmups(); i++) {
            round(pace, i, "warm-up " + (i + 1) + "/" + pace.warmups());
        }
        recordings.clear();
        if (scenario.measure() == Measure.HAND_OFFS) {
            checkOrder();
        }
        for (int i = 0; i < pace.rounds(); i++) {
            round(pace, i, "round " + (i + 1) + "/" + pace.rounds());
        }
        for (int i = 0; i < pace.timedRounds() && scenario.measure() == Measure.SECTIONS; i++) {
            timedRound(pace, i);
        }
        return scenario.contestants().stream()
                .map(contestant -> recording(contestant).measurement(scenario, contestant))
                .toList();
    }

    private void round(Pace pace, int index, String title) {
        var played = new TreeMap<String, Double>();
        for (String contestant : order(index)) {
            played.put(contestant, turn(contestant, pace, index));
        }
        var display = new StringBuilder(String.format(Locale.ROOT, "%-20s %-14s", scenario.name(), title));
        played.forEach((contestant, perSecond) ->
                display.append(String.format(Locale.ROOT, "  %s %,.0f/s", contestant, perSecond)));
        progress.accept(display.toString());
    }

    private List<String> order(int index) {
        var order = new ArrayList<>(scenario.contestants());
        Collections.rotate(order, index);
        return order;
    }

    private double turn(String contestant, Pace pace, int index) {
        Meter counter = Scenarios.isOnRedis(contestant) ? meter : null;
        Reading before = counter == null ? null : counter.read();
        Tally tally =
                play(contestant, pace.round().toNanos(), scenario.measure().timing(), index);
        Reading work = counter == null || before == null ? null : counter.since(before);
        double rate = rate(tally);
        recording(contestant).add(rate, tally, scenario.jvms() * scenario.threads(), work);
        return rate;
    }

    private double rate(Tally tally) {
        return switch (scenario.measure()) {
            case HAND_OFFS -> tally.handOffsPerSecond();
            // How long threads stay where they have got is no merit.
            case HAND_OFF_LATENCY ->
                tally.times().getTotalCount() == 0 ? 0 : 1e9 / tally.times().getValueAtPercentile(50);
            default -> tally.perSecond();
        };
    }

    private void timedRound(Pace pace, int index) {
        Timing timing = scenario.setting().isCrowded() ? Timing.WAITS : Timing.OPERATIONS;
        for (String contestant : order(index)) {
            recording(contestant).addTimes(play(contestant, pace.round().toNanos(), timing, pace.rounds() + index));
        }
    }

    private Tally play(String contestant, long nanos, Timing timing, int seed) {
        return play(contestant, nanos, timing, scenario.setting().sectionMicros() * 1_000, seed);
    }

    private Tally play(String contestant, long nanos, Timing timing, long stayNanos, int seed) {
        String name = "scoreboard:" + scenario.name() + ":" + contestant + ":" + run;
        long startNanos = Monotonic.nanos() + LEAD_NANOS + THREAD_NANOS * scenario.jvms() * scenario.threads();
        Tally tally = site.play(new Round(
                contestant,
                name,
                scenario.threads(),
                scenario.setting().writePercent(),
                seed,
                timing,
                stayNanos,
                scenario.setting().thinkMicros() * 1_000,
                startNanos,
                startNanos + nanos,
                counter));
        booked += tally.booked();
        check(contestant, tally);
        return tally;
    }

    private void check(String contestant, Tally tally) {
        if (tally.torn() > 0) {
            throw new BrokenExclusionException(
                    scenario.name(),
                    contestant,
                    tally.torn() + " sections were shared with a writer, or with too many");
        }
        if (site.sum() != booked) {
            throw new BrokenExclusionException(
                    scenario.name(),
                    contestant,
                    booked + " critical sections, but an unsynchronized counter in them says " + site.sum());
        }
        if (counter != null) {
            try (var file = new CounterFile(counter)) {
                if (file.read() != booked) {
                    throw new BrokenExclusionException(
                            scenario.name(),
                            contestant,
                            booked + " critical sections, but the number in their file is " + file.read());
                }
            }
        }
    }

    private static boolean isInOrder(Tally tally) {
        boolean isAlternation = tally.repeats() <= tally.booked() / 20;
        return isAlternation && tally.handOffsPerSecond() > tally.perSecond() / 2;
    }

    // A thread that stays in the section for so long finds the other one in the queue again when it leaves. On a busy
    // machine the other one may be late, and then it isn't its turn: so a round is played again.
    private void checkOrder() {
        Tally tally = play(scenario.ours(), ORDER_NANOS, Timing.NOTHING, STAY_NANOS, 0);
        for (int rounds = 1; !isInOrder(tally) && rounds < ORDER_ROUNDS; rounds++) {
            tally = play(scenario.ours(), ORDER_NANOS, Timing.NOTHING, STAY_NANOS, rounds);
        }
        if (!isInOrder(tally)) {
            throw new BrokenOrderException(scenario.name(), scenario.ours(), tally);
        }
        progress.accept(String.format(
                Locale.ROOT,
                "%-20s order          %s: %d sections, %d of them out of turn",
                scenario.name(),
                scenario.ours(),
                tally.booked(),
                tally.repeats()));
    }

    private Recording recording(String contestant) {
        return recordings.computeIfAbsent(contestant, absent -> new Recording());
    }

    /**
     * Says that a lock has let two threads in at once that exclude each other, so that how fast it was doesn't matter.
     */
    static final class BrokenExclusionException extends IllegalStateException {

        @Serial
        private static final long serialVersionUID = 1L;

        BrokenExclusionException(String scenario, String contestant, String evidence) {
            super("MUTUAL EXCLUSION BROKEN in " + scenario + " by " + contestant + ": " + evidence);
        }
    }

    /** Says that a lock which is fair has let a JVM overtake one that waited. */
    static final class BrokenOrderException extends IllegalStateException {

        @Serial
        private static final long serialVersionUID = 1L;

        BrokenOrderException(String scenario, String contestant, Tally tally) {
            super("NO STRICT ALTERNATION in " + scenario + " by " + contestant + ": in " + tally.repeats() + " of "
                    + tally.booked() + " sections a JVM went on although the other one waited; "
                    + tally.handOffsPerSecond()
                    + " of " + tally.perSecond() + " sections/s came after one of the other JVM");
        }
    }
}
