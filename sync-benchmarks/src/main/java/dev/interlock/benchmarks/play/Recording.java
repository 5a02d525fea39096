package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.contestants.Contestants;
import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.play.Meter.Reading;
import dev.interlock.benchmarks.play.Site.Tally;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Measurement.Cost;
import dev.interlock.benchmarks.report.Measurement.Latency;
import dev.interlock.benchmarks.report.Measurement.Shares;
import dev.interlock.benchmarks.scenarios.Scenario;
import dev.interlock.benchmarks.scenarios.Scenario.Measure;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** What a contest has seen of one contestant, round by round. */
final class Recording {

    private final List<Double> perSecond = new ArrayList<>();
    private final List<Double> commands = new ArrayList<>();
    private final List<Double> bytes = new ArrayList<>();
    private final List<Double> smallestShares = new ArrayList<>();
    private final List<Double> largestShares = new ArrayList<>();
    private final List<Double> p50Micros = new ArrayList<>();
    private final Histogram times = Ledger.noTimes();

    /** Adds a round that counts, and what Redis did in it, if anybody looked. */
    void add(double rate, Tally tally, int threads, @Nullable Reading work) {
        perSecond.add(rate);
        addTimes(tally);
        if (tally.operations() > 0) {
            double equalShare = (double) tally.operations() / threads;
            smallestShares.add(tally.fewest() / equalShare);
            largestShares.add(tally.most() / equalShare);
            if (work != null) {
                commands.add(Math.max(0, work.commands()) / tally.operations());
                bytes.add(Math.max(0, work.bytes()) / tally.operations());
            }
        }
    }

    /** Adds a round in which nothing but times was wanted. */
    void addTimes(Tally tally) {
        times.add(tally.times());
        if (tally.times().getTotalCount() > 0) {
            p50Micros.add(tally.times().getValueAtPercentile(50) / 1e3);
        }
    }

    Measurement measurement(Scenario scenario, String contestant) {
        return new Measurement(
                scenario.name(),
                scenario.family(),
                Contestants.title(contestant),
                scenario.jvms(),
                scenario.threads(),
                scenario.setting().sectionMicros(),
                scenario.setting().delayMicros(),
                perSecond,
                Latency.of(times, p50Micros),
                commands.isEmpty() ? null : new Cost(Measurement.median(commands), Measurement.median(bytes)),
                shares(scenario),
                null);
    }

    private @Nullable Shares shares(Scenario scenario) {
        if (!scenario.setting().isCrowded() || smallestShares.isEmpty()) {
            return null;
        }
        boolean isWait = scenario.measure() == Measure.SECTIONS || scenario.measure() == Measure.SECTIONS_AND_WAITS;
        return new Shares(
                Measurement.median(smallestShares),
                Measurement.median(largestShares),
                isWait && times.getTotalCount() > 0 ? times.getMaxValue() / 1e3 : null);
    }
}
