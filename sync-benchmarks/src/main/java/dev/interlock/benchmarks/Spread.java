package dev.interlock.benchmarks;

import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** The median, minimum and maximum of several rounds. */
record Spread(double least, double median, double most) {

    static Spread of(Collection<Double> rounds) {
        List<Double> sorted = rounds.stream().sorted().toList();
        return new Spread(sorted.get(0), sorted.get(sorted.size() / 2), sorted.get(sorted.size() - 1));
    }

    /** The median, and the least and the most in parentheses. */
    String text(String unit) {
        String format = median < 10 ? "%,.2f" : "%,.0f";
        return String.format(Locale.ROOT, format + " (" + format + " to " + format + ")%s", median, least, most, unit);
    }
}
