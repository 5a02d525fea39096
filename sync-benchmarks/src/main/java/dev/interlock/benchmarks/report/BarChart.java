package dev.interlock.benchmarks.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;

/** Groups of bars with a logarithmic axis. */
final class BarChart {

    private final String title;
    private final String yTitle;
    private final List<String> groups;
    private final Map<String, Map<String, Double>> bars = new LinkedHashMap<>();

    BarChart(String title, String yTitle, List<String> groups) {
        this.title = title;
        this.yTitle = yTitle;
        this.groups = groups;
    }

    String title() {
        return title;
    }

    void add(String contestant, String group, @Nullable Double value) {
        if (value != null && value > 0) {
            bars.computeIfAbsent(contestant, absent -> new LinkedHashMap<>()).put(group, value);
        }
    }

    /** The chart, if there is a bar in it. */
    Optional<CategoryChart> chart() {
        if (bars.isEmpty()) {
            return Optional.empty();
        }
        var chart = new CategoryChartBuilder()
                .width(Look.WIDTH)
                .height(Look.HEIGHT)
                .title(title)
                .xAxisTitle("")
                .yAxisTitle(yTitle)
                .build();
        Look.apply(chart.getStyler());
        chart.getStyler().setAvailableSpaceFill(0.9);
        double[] values = bars.values().stream()
                .flatMap(group -> group.values().stream())
                .mapToDouble(Double::doubleValue)
                .sorted()
                .toArray();
        Look.decades(chart.getStyler(), values[0], values[values.length - 1]);
        bars.forEach((contestant, known) -> {
            // XChart takes null for a bar that isn't there.
            List<@Nullable Double> heights = new java.util.ArrayList<>();
            groups.forEach(group -> heights.add(known.get(group)));
            chart.addSeries(contestant, groups, heights).setFillColor(Palette.of(contestant));
        });
        return Optional.of(chart);
    }
}
