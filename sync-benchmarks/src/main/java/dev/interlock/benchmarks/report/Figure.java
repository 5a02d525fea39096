package dev.interlock.benchmarks.report;

import dev.interlock.benchmarks.report.Measurement.Cost;
import dev.interlock.benchmarks.report.Measurement.Latency;
import dev.interlock.benchmarks.report.Measurement.Shares;
import dev.interlock.benchmarks.report.Measurement.Upkeep;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One of the numbers of a measurement, as it stands in a table. */
@SuppressWarnings("ImmutableEnumChecker") // its functions keep nothing
public enum Figure {
    RATE("per second (median)", "throughput", true, Numbers::exact, Measurement::median),
    LEAST("least", "least throughput of a round", true, Numbers::exact, one -> extreme(one, -1)),
    MOST("most", "greatest throughput of a round", true, Numbers::exact, one -> extreme(one, 1)),
    P50("p50 µs", "median time", false, Numbers::exact, latency(Latency::p50Micros)),
    P90("p90 µs", "90th percentile of the time", false, Numbers::exact, percentile(90, Latency::p90Micros)),
    P99("p99 µs", "99th percentile of the time", false, Numbers::exact, percentile(99, Latency::p99Micros)),
    P999("p99.9 µs", "99.9th percentile of the time", false, Numbers::exact, percentile(99.9, Latency::p999Micros)),
    MAX("max µs", "longest time", false, Numbers::exact, latency(Latency::maxMicros)),
    SMALLEST_SHARE("smallest share", "smallest share of a thread", true, Numbers::share, shares(Shares::smallestShare)),
    LARGEST_SHARE("largest share", "largest share of a thread", false, Numbers::share, shares(Shares::largestShare)),
    LONGEST_WAIT("longest wait ms", "longest wait", false, Numbers::millis, shares(Shares::longestWaitMicros)),
    COMMANDS(
            "commands each",
            "number of commands per operation",
            false,
            Numbers::fine,
            cost(Cost::commandsPerOperation)),
    BYTES("bytes each", "bytes per operation", false, Numbers::fine, cost(Cost::bytesPerOperation)),
    RENEWALS(
            "renewal commands/s",
            "renewal commands per second",
            false,
            Numbers::fine,
            upkeep(Upkeep::commandsPerSecond)),
    RENEWAL_BYTES("renewal bytes/s", "renewal traffic", false, Numbers::exact, upkeep(Upkeep::bytesPerSecond)),
    HEAP("heap bytes per name", "heap per name", false, Numbers::exact, upkeep(Upkeep::heapBytesPerName));

    private final String heading;
    private final String words;
    private final boolean moreIsBetter;
    private final DoubleFunction<String> format;
    private final Function<Measurement, @Nullable Double> value;

    Figure(
            String heading,
            String words,
            boolean moreIsBetter,
            DoubleFunction<String> format,
            Function<Measurement, @Nullable Double> value) {
        this.heading = heading;
        this.words = words;
        this.moreIsBetter = moreIsBetter;
        this.format = format;
        this.value = value;
    }

    /** Of a column. */
    public String heading() {
        return heading;
    }

    /** What it is, within a sentence. */
    public String words() {
        return words;
    }

    /** Or is it less? */
    public boolean moreIsBetter() {
        return moreIsBetter;
    }

    /** Null where it wasn't measured. */
    public @Nullable Double of(Measurement measurement) {
        return value.apply(measurement);
    }

    /** As text; a dash where it wasn't measured. */
    public String text(Measurement measurement) {
        Double known = of(measurement);
        return known == null ? "–" : format.apply(known);
    }

    /** The same of single rounds; empty where nobody kept them. */
    List<Double> rounds(Measurement measurement) {
        return switch (this) {
            case RATE -> measurement.perSecond();
            case P50 ->
                measurement.latency() == null
                        ? List.of()
                        : measurement.latency().roundsP50Micros();
            default -> List.of();
        };
    }

    private static double extreme(Measurement measurement, int sign) {
        return sign
                * measurement.perSecond().stream()
                        .mapToDouble(rate -> sign * rate)
                        .max()
                        .orElseThrow();
    }

    private static Function<Measurement, @Nullable Double> latency(Function<Latency, @Nullable Double> part) {
        return one -> one.latency() == null ? null : part.apply(one.latency());
    }

    private static Function<Measurement, @Nullable Double> percentile(
            double percentile, Function<Latency, Double> part) {
        return latency(latency -> latency.supports(percentile) ? part.apply(latency) : null);
    }

    private static Function<Measurement, @Nullable Double> shares(Function<Shares, @Nullable Double> part) {
        return one -> one.shares() == null ? null : part.apply(one.shares());
    }

    private static Function<Measurement, @Nullable Double> cost(Function<Cost, @Nullable Double> part) {
        return one -> one.cost() == null ? null : part.apply(one.cost());
    }

    private static Function<Measurement, @Nullable Double> upkeep(Function<Upkeep, @Nullable Double> part) {
        return one -> one.upkeep() == null ? null : part.apply(one.upkeep());
    }
}
