package dev.interlock.benchmarks.report;

import java.awt.Color;
import java.awt.Font;
import java.util.Locale;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendPosition;

/** What all charts have in common: they can be read at half their width. */
final class Look {

    static final int WIDTH = 1_400;
    static final int HEIGHT = 800;

    private static final Color GRID = new Color(0xE2, 0xE2, 0xE2);

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
