package dev.interlock.benchmarks.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.util.Locale;
import java.util.Map;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * What all charts have in common: they can be read at half their width, and show the same contestant in the same
 * colour, ours in the strongest.
 */
final class Look {

    static final int WIDTH = 1_400;
    static final int HEIGHT = 800;

    private static final Color GRID = new Color(0xE2, 0xE2, 0xE2);

    private static final Color OURS = new Color(0xD6, 0x10, 0x28);
    private static final Color UNKNOWN = new Color(0x60, 0x60, 0x60);

    private static final Map<String, Color> PEERS = Map.ofEntries(
            Map.entry(Charts.CONTENDED, new Color(0xE6, 0x7E, 0x00)),
            Map.entry(Charts.UNCONTENDED, new Color(0x60, 0x78, 0x90)),
            Map.entry("ReentrantLock", new Color(0x20, 0x20, 0x20)),
            Map.entry("JDK", new Color(0x20, 0x20, 0x20)),
            Map.entry("Interlock-adapted", new Color(0xF2, 0x9A, 0xA4)),
            Map.entry("Redisson", new Color(0x1F, 0x5F, 0xBF)),
            Map.entry("round-trip", new Color(0x90, 0x90, 0x90)),
            Map.entry("pubsub-echo", new Color(0xA8, 0xA8, 0xA8)),
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

    static void apply(AxesChartStyler styler) {
        styler.setYAxisLogarithmic(true)
                .setYAxisLogarithmicDecadeOnly(true)
                .setAxisTickPadding(12)
                .setAxisTitleFont(font(Font.PLAIN, 26))
                .setAxisTickLabelsFont(font(Font.PLAIN, 24))
                .setPlotGridLinesColor(GRID)
                .setYAxisTickLabelsFormattingFunction(Look::decade);
        styler.setMarkerSize(14);
        styler.setChartTitleFont(font(Font.BOLD, 28))
                .setChartTitleBoxVisible(false)
                .setChartTitlePadding(14)
                .setChartPadding(16)
                .setChartBackgroundColor(Color.WHITE)
                .setPlotBackgroundColor(Color.WHITE)
                .setPlotBorderVisible(false)
                .setLegendPosition(LegendPosition.OutsideE)
                .setLegendFont(font(Font.PLAIN, 24))
                .setLegendBorderColor(Color.WHITE)
                .setLegendPadding(12)
                .setAntiAlias(true);
    }

    /** From a power of ten below to one above. */
    static void decades(AxesChartStyler styler, double least, double most) {
        double low = Math.floor(Math.log10(least) + 1e-9);
        double high = Math.max(low + 1, Math.ceil(Math.log10(most) - 1e-9));
        styler.setYAxisMin(Math.pow(10, low)).setYAxisMax(Math.pow(10, high));
    }

    private static boolean isOurs(String name) {
        return name.startsWith("Interlock") || name.equals(Charts.RETAINED);
    }

    /** Gives a line or bar what belongs to its contestant. */
    static void paint(String name, CategorySeries series) {
        Color colour = PEERS.getOrDefault(name, isOurs(name) ? OURS : UNKNOWN);
        series.setFillColor(colour);
        series.setLineColor(colour);
        series.setMarkerColor(colour);
        series.setLineStyle(new BasicStroke(isOurs(name) ? 7f : 3f, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND));
        // Whose markers differ can be told apart in print, too.
        series.setMarker(isOurs(name) ? SeriesMarkers.CIRCLE : MARKERS[Math.floorMod(name.hashCode(), MARKERS.length)]);
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

    private static Font font(int style, int size) {
        return new Font(Font.SANS_SERIF, style, size);
    }
}
