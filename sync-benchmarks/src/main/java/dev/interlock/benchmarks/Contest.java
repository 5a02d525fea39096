package dev.interlock.benchmarks;

import dev.interlock.benchmarks.Scenario.Pace;
import dev.interlock.benchmarks.Site.Round;
import dev.interlock.benchmarks.Site.Tally;
import dev.interlock.testing.Monotonic;
import java.io.Serial;
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

/**
 * Plays a scenario: the contestants take turns in short rounds, so that whatever slows the machine down meets them all, and each
 * begins as often as the others. After every round the site's sum is compared with what the threads have booked.
 *
 * <p>What a contestant leaves behind in the background is paid for by all of them: Redisson 4.7.0 goes on renewing long released
 * locks, thousands of commands every ten seconds. Each contestant has its own client, but there is one Redis.
 */
final class Contest {

    private static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Scenario scenario;
    private final Site site;
    private final Consumer<String> progress;
    private final String run = UUID.randomUUID().toString();
    private final Map<String, List<Double>> rates = new HashMap<>();
    private long booked;

    Contest(Scenario scenario, Site site, Consumer<String> progress) {
        this.scenario = scenario;
        this.site = site;
        this.progress = progress;
    }

    /**
     * Plays all rounds.
     *
     * @return the scores, one per peer
     * @throws BrokenExclusionException if a contestant let two threads into its critical section
     */
    List<Score> play(Pace pace) {
        scenario.contestants().forEach(site::open);
        for (int i = 0; i < pace.warmups(); i++) {
            round(pace, i, "warm-up " + (i + 1) + "/" + pace.warmups());
        }
        rates.clear();
        for (int i = 0; i < pace.rounds(); i++) {
            round(pace, i, "round " + (i + 1) + "/" + pace.rounds());
        }
        return scenario.peers().stream()
                .map(peer -> new Score(scenario.name(), peer, rates(scenario.ours()), rates(peer)))
                .toList();
    }

    private void round(Pace pace, int index, String title) {
        var order = new ArrayList<>(scenario.contestants());
        Collections.rotate(order, index);
        var played = new TreeMap<String, Double>();
        for (String contestant : order) {
            played.put(contestant, turn(contestant, pace));
        }
        var display = new StringBuilder(String.format(Locale.ROOT, "%-20s %-14s", scenario.name(), title));
        played.forEach((contestant, perSecond) -> {
            rates(contestant).add(perSecond);
            display.append(String.format(Locale.ROOT, "  %s %,.0f/s", contestant, perSecond));
        });
        progress.accept(display.toString());
    }

    private double turn(String contestant, Pace pace) {
        String name = "scoreboard:" + scenario.name() + ":" + contestant + ":" + run;
        long startNanos = Monotonic.nanos() + LEAD_NANOS;
        long endNanos = startNanos + pace.round().toNanos();
        Tally tally = site.play(new Round(contestant, name, scenario.threads(), startNanos, endNanos));
        booked += tally.booked();
        if (site.sum() != booked) {
            throw new BrokenExclusionException(scenario.name(), contestant, booked, site.sum());
        }
        return tally.perSecond();
    }

    private List<Double> rates(String contestant) {
        return rates.computeIfAbsent(contestant, absent -> new ArrayList<>());
    }

    /** Says that a lock has let two threads in at once, so that how fast it was doesn't matter. */
    static final class BrokenExclusionException extends IllegalStateException {

        @Serial
        private static final long serialVersionUID = 1L;

        BrokenExclusionException(String scenario, String contestant, long booked, long sum) {
            super("MUTUAL EXCLUSION BROKEN in " + scenario + " by " + contestant + ": " + booked
                    + " critical sections, but an unsynchronized counter in them says " + sum);
        }
    }
}
