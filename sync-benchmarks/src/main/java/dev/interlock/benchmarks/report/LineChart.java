package dev.interlock.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;

/** Lines over a few named places, with a logarithmic axis, for what spans decades. */
final class LineChart {

    private final String title;
    private final String xTitle;
    private final String yTitle;
    private final List<String> places;
    private final Map<String, List<double[]>> lines = new LinkedHashMap<>();

    LineChart(String title, String xTitle, String yTitle, List<String> places) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
        this.places = places;
    }

    String title() {
        return title;
    }

    /** A logarithmic axis has no room for zero: nothing has happened there. */
    void add(String line, int place, double value) {
        if (value > 0) {
            lines.computeIfAbsent(line, absent -> new ArrayList<>()).add(new double[] {place, value});
        }
    }

    /** The chart, if there is a line in it. */
    Optional<XYChart> chart() {
        if (lines.isEmpty()) {
            return Optional.empty();
        }
        var chart = new XYChartBuilder()
                .width(Look.WIDTH)
                .height(Look.HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        Look.apply(chart.getStyler());
        chart.getStyler()
                .setXAxisMin(-0.2)
                .setXAxisMax(places.size() - 0.8)
                .setXAxisTickLabelsFormattingFunction(this::place);
        chart.getStyler().setMarkerSize(14);
        lines.forEach((name, points) -> {
            var line = chart.addSeries(
                    name,
                    points.stream().mapToDouble(point -> point[0]).toArray(),
                    points.stream().mapToDouble(point -> point[1]).toArray());
            Palette.paint(name, line);
        });
        double[] values = lines.values().stream()
                .flatMap(List::stream)
                .mapToDouble(point -> point[1])
                .sorted()
                .toArray();
        Look.decades(chart.getStyler(), values[0], values[values.length - 1]);
        return Optional.of(chart);
    }

    private String place(double x) {
        long place = Math.round(x);
        return Math.abs(x - place) < 1e-6 && place >= 0 && place < places.size() ? places.get((int) place) : "";
    }
}
