package dev.interlock.benchmarks.report;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;

/** Lines or groups of bars over a few named places, with a logarithmic axis, for what spans decades. */
final class Plot {

    /** Names of places with more letters than that, all together, run into each other. */
    private static final int MOST_LETTERS = 75;

    private final String title;
    private final CategorySeriesRenderStyle style;
    private final String xTitle;
    private final String yTitle;
    private final List<String> places;
    private final Map<String, Map<String, Double>> series = new LinkedHashMap<>();
    private final Map<String, Map<String, Double>> errors = new HashMap<>();

    private Plot(String title, CategorySeriesRenderStyle style, String xTitle, String yTitle, List<String> places) {
        this.title = title;
        this.style = style;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
        this.places = places;
    }

    static Plot ofLines(String title, String xTitle, String yTitle, List<String> places) {
        return new Plot(title, CategorySeriesRenderStyle.Line, xTitle, yTitle, places);
    }

    static Plot ofBars(String title, String yTitle, List<String> places) {
        return new Plot(title, CategorySeriesRenderStyle.Bar, "", yTitle, places);
    }

    String title() {
        return title;
    }

    /** A logarithmic axis has no room for zero: nothing has happened there. */
    void add(String name, String place, @Nullable Double value) {
        if (value != null && value > 0) {
            series.computeIfAbsent(name, absent -> new HashMap<>()).put(place, value);
        }
    }

    /**
     * The same with an error. On a logarithmic axis XChart adds and subtracts its logarithm, so that it has to be a
     * factor; the bar ends where it should above the value, and a little too high below.
     */
    void add(String name, String place, double value, double error) {
        add(name, place, value);
        if (error > 0) {
            errors.computeIfAbsent(name, absent -> new HashMap<>()).put(place, 1 + error / value);
        }
    }

    /** The chart, if there is something in it. */
    Optional<CategoryChart> chart() {
        if (series.isEmpty()) {
            return Optional.empty();
        }
        var chart = new CategoryChartBuilder()
                .width(Look.WIDTH)
                .height(Look.HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        Look.apply(chart.getStyler());
        chart.getStyler().setDefaultSeriesRenderStyle(style).setAvailableSpaceFill(0.9);
        if (String.join(" ", places).length() > MOST_LETTERS) {
            chart.getStyler().setXAxisLabelRotation(30);
        }
        chart.getStyler().setOverlapped(style == CategorySeriesRenderStyle.Line); // points above their places
        double[] values = series.values().stream()
                .flatMap(known -> known.values().stream())
                .mapToDouble(Double::doubleValue)
                .sorted()
                .toArray();
        Look.decades(chart.getStyler(), values[0], values[values.length - 1]);
        series.keySet()
                .forEach(name -> Look.paint(
                        name,
                        errors.isEmpty()
                                ? chart.addSeries(name, places, values(name))
                                : chart.addSeries(name, places, values(name), errors(name))));
        return Optional.of(chart);
    }

    private List<Double> errors(String name) {
        Map<String, Double> known = errors.getOrDefault(name, Map.of());
        return places.stream().map(place -> known.getOrDefault(place, 1.0)).toList();
    }

    // XChart takes null for what isn't there.
    private List<@Nullable Double> values(String name) {
        Map<String, Double> known = series.getOrDefault(name, Map.of());
        var values = new ArrayList<@Nullable Double>();
        places.forEach(place -> values.add(known.get(place)));
        return values;
    }
}
