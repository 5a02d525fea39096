package dev.interlock.benchmarks.pages;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.util.Locale;
import java.util.Map;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * What all charts have in common: they can be read at half their width, and show the same contestant in the same
 * colour, ours in the strongest.
 */
final class Look {

    static final int WIDTH = 700;
    static final int HEIGHT = 400;
    private static final int SCALE = 2;

    private static final Color GRID = new Color(0xE2, 0xE2, 0xE2);

    private static final Color OURS = new Color(0xD6, 0x10, 0x28);
    private static final Color UNKNOWN = new Color(0x60, 0x60, 0x60);
    private static final Color LIMIT = new Color(0x70, 0x70, 0x70);

    private static final Map<String, Color> PEERS = Map.ofEntries(
            Map.entry("JDK", new Color(0x20, 0x20, 0x20)),
            Map.entry("Interlock-adapted", new Color(0xF2, 0x9A, 0xA4)),
            Map.entry("Interlock-fair", new Color(0xE8, 0x6A, 0x17)),
            Map.entry("Redisson", new Color(0x1F, 0x5F, 0xBF)),
            Map.entry("RLock", new Color(0x1F, 0x5F, 0xBF)),
            Map.entry("RFairLock", new Color(0x5B, 0x9B, 0xE6)),
            Map.entry("RSpinLock", new Color(0x9E, 0xC5, 0xF2)),
            Map.entry("SETNX", new Color(0xE6, 0xA1, 0x00)),
            Map.entry("Spring-pubsub", new Color(0x3C, 0x96, 0x3C)),
            Map.entry("Spring-spin", new Color(0x93, 0xC9, 0x7A)),
            Map.entry("Curator", new Color(0x8A, 0x5A, 0x2B)),
            Map.entry("Hazelcast", new Color(0x00, 0x9A, 0xA6)),
            Map.entry("Postgres-advisory", new Color(0x6A, 0x3D, 0x9A)),
            Map.entry("Postgres-row", new Color(0xB3, 0x96, 0xD6)),
            Map.entry("etcd", new Color(0xD8, 0x5C, 0xA8)));

    private static final Marker[] MARKERS = {
        SeriesMarkers.SQUARE, SeriesMarkers.DIAMOND, SeriesMarkers.TRIANGLE_UP, SeriesMarkers.TRIANGLE_DOWN
    };

    private Look() {}

    static void apply(CategoryStyler styler, boolean isTime) {
        styler.setOverlapped(true); // points above their places
        styler.setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Line);
        styler.setYAxisLogarithmic(true)
                .setYAxisLogarithmicDecadeOnly(true)
                .setXAxisTickMarkSpacingHint(1) // no place without its name
                .setAxisTickPadding(6)
                .setAxisTitleFont(font(Font.PLAIN, 17))
                .setAxisTickLabelsFont(font(Font.PLAIN, 17))
                .setPlotGridLinesColor(GRID)
                .setYAxisTickLabelsFormattingFunction(isTime ? Look::time : Look::decade);
        styler.setErrorBarsColorSeriesColor(true);
        styler.setMarkerSize(9);
        styler.setChartTitleFont(font(Font.BOLD, 17))
                .setChartTitleBoxVisible(false)
                .setChartTitlePadding(7)
                .setChartPadding(8)
                .setChartBackgroundColor(Color.WHITE)
                .setPlotBackgroundColor(Color.WHITE)
                .setPlotBorderVisible(false)
                .setLegendPosition(LegendPosition.OutsideE)
                .setLegendFont(font(Font.PLAIN, 16))
                .setLegendBorderColor(Color.WHITE)
                .setLegendPadding(6)
                .setAntiAlias(true);
    }

    /** From a power of ten below to one above. */
    static void decades(AxesChartStyler styler, double least, double most) {
        double low = Math.floor(Math.log10(least) + 1e-9);
        double high = Math.max(low + 1, Math.ceil(Math.log10(most) - 1e-9));
        styler.setYAxisMin(Math.pow(10, low)).setYAxisMax(Math.pow(10, high));
    }

    private static boolean isOurs(String name) {
        return name.startsWith("Interlock");
    }

    private static Color colour(String name) {
        return PEERS.getOrDefault(name, isOurs(name) ? OURS : UNKNOWN);
    }

    /** Gives a line, or dots, what belongs to its contestant. */
    static void paint(String name, CategorySeries series, boolean isLine) {
        series.setLineColor(colour(name));
        series.setMarkerColor(colour(name));
        series.setLineStyle(isLine ? stroke(isOurs(name) ? 3.5f : 1.5f) : SeriesLines.NONE);
        // Whose markers differ can be told apart in print, too.
        series.setMarker(isOurs(name) ? SeriesMarkers.CIRCLE : MARKERS[Math.floorMod(name.hashCode(), MARKERS.length)]);
    }

    /** Nothing but the whiskers. */
    static void whisker(String name, CategorySeries series) {
        series.setLineColor(colour(name));
        series.setLineStyle(SeriesLines.NONE);
        series.setMarker(SeriesMarkers.NONE);
        series.setShowInLegend(false);
    }

    /** Dashes, shorter for each further one. */
    static void limit(CategorySeries series, int number) {
        float[] dashes = {9f / number, 5};
        series.setLineColor(LIMIT);
        series.setLineStyle(new BasicStroke(2, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, dashes, 0));
        series.setMarker(SeriesMarkers.NONE);
    }

    private static BasicStroke stroke(float width) {
        return new BasicStroke(width, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND);
    }

    private static String decade(double value) {
        if (value >= 1e9) {
            return Math.round(value / 1e9) + "G";
        }
        if (value >= 1e6) {
            return Math.round(value / 1e6) + "M";
        }
        if (value >= 1e3) {
            return Math.round(value / 1e3) + "k";
        }
        return value >= 1
                ? String.valueOf(Math.round(value))
                : String.format(Locale.ROOT, value < 1e-3 ? "%.0e" : "%s", value);
    }

    private static String time(double nanos) {
        if (nanos >= 1e9) {
            return Math.round(nanos / 1e9) + " s";
        }
        if (nanos >= 1e6) {
            return Math.round(nanos / 1e6) + " ms";
        }
        return nanos >= 1e3 ? Math.round(nanos / 1e3) + " µs" : Math.round(nanos) + " ns";
    }

    private static Font font(int style, int size) {
        return new Font(Font.SANS_SERIF, style, size);
    }

    /** The picture: twice as many points as the chart is large, so that it is sharp at half its width. */
    static BufferedImage picture(CategoryChart chart) {
        var picture = new BufferedImage(SCALE * WIDTH, SCALE * HEIGHT, BufferedImage.TYPE_INT_RGB);
        Graphics2D pen = picture.createGraphics();
        try {
            pen.scale(SCALE, SCALE);
            chart.paint(pen, WIDTH, HEIGHT);
        } finally {
            pen.dispose();
        }
        return picture;
    }
}
