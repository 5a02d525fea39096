package dev.interlock.benchmarks.report;

import java.util.Locale;

/** Numbers as they stand in a text: with as many digits as mean something. */
public final class Numbers {

    private Numbers() {}

    /** A count or a time. */
    public static String exact(double value) {
        return format(Math.abs(value) < 10 ? "%,.2f" : "%,.0f", value);
    }

    /** What may be far below one. */
    static String fine(double value) {
        if (value == 0) {
            return "0";
        }
        return Math.abs(value) < 0.01 ? format("%.1e", value) : exact(value);
    }

    static String share(double value) {
        return format("%.2f", value);
    }

    /** A time in microseconds, as milliseconds. */
    public static String millis(double micros) {
        return exact(micros / 1e3);
    }

    /** One number over another. */
    public static String ratio(double value) {
        if (!Double.isFinite(value)) {
            return Double.isNaN(value) ? "–" : "∞"; // over a contestant that did nothing
        }
        if (value >= 100) {
            return format("%,.0f", value);
        }
        if (value >= 10) {
            return format("%.1f", value);
        }
        return value == 0 || value >= 0.01 ? format("%.2f", value) : format("%.1e", value);
    }

    private static String format(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
