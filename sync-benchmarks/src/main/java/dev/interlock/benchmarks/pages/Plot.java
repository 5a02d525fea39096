package dev.interlock.benchmarks.pages;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.style.AxesChartStyler.TextAlignment;

/**
 * Lines, or dots with whiskers, over a few named places, on a logarithmic axis for what spans decades. Limits are
 * dashed lines.
 */
final class Plot {

    /** Names of places with more letters than that, all together, run into each other. */
    private static final int MOST_LETTERS = 40;

    private record Span(double low, double high) {

        double middle() {
            return Math.sqrt(low * high);
        }
    }

    private final String title;
    private final String xTitle;
    private final String yTitle;
    private final List<String> places;
    private final boolean isLines;
    private final boolean isTime;
    private final Map<String, Map<String, Double>> series = new LinkedHashMap<>();
    private final Map<String, Map<String, Span>> whiskers = new LinkedHashMap<>();
    private final Map<String, Map<String, Double>> limits = new LinkedHashMap<>();

    private Plot(String title, String xTitle, String yTitle, List<String> places, boolean isLines, boolean isTime) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
        this.places = places;
        this.isLines = isLines;
        this.isTime = isTime;
    }

    static Plot ofLines(String title, String xTitle, String yTitle, List<String> places) {
        return new Plot(title, xTitle, yTitle, places, true, false);
    }

    static Plot ofDots(String title, String yTitle, List<String> places) {
        return new Plot(title, "", yTitle, places, false, false);
    }

    /** Dots that are times, in nanoseconds: XChart misplaces whiskers of what is less than one. */
    static Plot ofTimes(String title, List<String> places) {
        return new Plot(title, "", "", places, false, true);
    }

    /** Lines of times, in nanoseconds. */
    static Plot ofTimeLines(String title, String xTitle, List<String> places) {
        return new Plot(title, xTitle, "", places, true, true);
    }

    String title() {
        return title;
    }

    boolean isEmpty() {
        return series.isEmpty();
    }

    /** A logarithmic axis has no room for zero: nothing has happened there. */
    void add(String name, String place, @Nullable Double value) {
        if (value != null && value > 0) {
            series.computeIfAbsent(name, absent -> new HashMap<>()).put(place, value);
        }
    }

    /** A whisker. */
    void span(String name, String place, double low, double high) {
        if (low > 0 && low < high) {
            whiskers.computeIfAbsent(name, absent -> new HashMap<>()).put(place, new Span(low, high));
        }
    }

    /** A limit at a place. */
    void limit(String name, String place, double value) {
        limits.computeIfAbsent(name, absent -> new HashMap<>()).put(place, value);
    }

    /** A limit at all places. */
    void limit(String name, double value) {
        places.forEach(place -> limit(name, place, value));
    }

    CategoryChart chart() {
        var chart = new CategoryChartBuilder()
                .width(Look.WIDTH)
                .height(Look.HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        Look.apply(chart.getStyler(), isTime);
        if (String.join(" ", places).length() > MOST_LETTERS) {
            chart.getStyler()
                    .setXAxisLabelRotation(30)
                    .setXAxisLabelAlignment(TextAlignment.Right)
                    .setXAxisLabelAlignmentVertical(TextAlignment.Right);
        }
        double[] values = values().sorted().toArray();
        Look.decades(chart.getStyler(), values[0], values[values.length - 1]);
        whiskers.forEach((name, spans) -> Look.whisker(name, whisker(chart, name, spans)));
        int number = 0;
        for (var limit : limits.entrySet()) {
            Look.limit(chart.addSeries(limit.getKey(), places, values(limit.getValue())), ++number);
        }
        series.forEach((name, known) -> {
            CategorySeries line = chart.addSeries(name, places, values(known));
            Look.paint(name, line, isLines);
            // Where each place is somebody, it bears the name.
            line.setShowInLegend(!places.contains(name));
        });
        return chart;
    }

    private DoubleStream values() {
        Stream<Double> points = Stream.concat(series.values().stream(), limits.values().stream())
                .flatMap(known -> known.values().stream());
        Stream<Double> ends = whiskers.values().stream()
                .flatMap(known -> known.values().stream())
                .flatMap(span -> Stream.of(span.low, span.high));
        return Stream.concat(points, ends).mapToDouble(Double::doubleValue);
    }

    // XChart's whiskers are as long above a point as below: the point is the middle, and isn't shown. On a logarithmic
    // axis a length is a factor.
    private CategorySeries whisker(CategoryChart chart, String name, Map<String, Span> spans) {
        var middles = new HashMap<String, Double>();
        var lengths = new HashMap<String, Double>();
        spans.forEach((place, span) -> {
            middles.put(place, span.middle());
            lengths.put(place, span.high / span.middle());
        });
        List<Double> all =
                places.stream().map(place -> lengths.getOrDefault(place, 1.0)).toList();
        return chart.addSeries(name + ", spread", places, values(middles), all);
    }

    // XChart takes null for what isn't there.
    private List<@Nullable Double> values(Map<String, Double> known) {
        var values = new ArrayList<@Nullable Double>();
        places.forEach(place -> values.add(known.get(place)));
        return values;
    }
}
