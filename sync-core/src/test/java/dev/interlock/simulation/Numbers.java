package dev.interlock.simulation;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Pattern;

/** Numbers as Redis reads and writes them. */
final class Numbers {
    private static final Pattern INTEGER = Pattern.compile("0|-?[1-9][0-9]{0,18}");
    private static final Pattern FLOAT = Pattern.compile("[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?");
    private static final Pattern INFINITE = Pattern.compile("([-+]?)inf(inity)?", Pattern.CASE_INSENSITIVE);
    private static final MathContext DIGITS = new MathContext(17, RoundingMode.HALF_EVEN);

    /** From here on C's {@code %.17g} writes an exponent. */
    private static final double LONG = 1e17;

    private Numbers() {}

    /** Reads an integer. Redis takes no other notation than its own, and nothing around it. */
    static long integer(String word, String error) {
        // Most of them are short, and parsed as they are.
        if (word.length() < 19 && isDigits(word)) {
            return Long.parseLong(word);
        }
        if (INTEGER.matcher(word).matches()) {
            try {
                return Long.parseLong(word);
            } catch (NumberFormatException e) {
                throw new CommandError(error);
            }
        }
        throw new CommandError(error);
    }

    private static boolean isDigits(String word) {
        if (word.isEmpty() || word.charAt(0) == '0') {
            return false;
        }
        for (int i = 0; i < word.length(); i++) {
            if (word.charAt(i) < '0' || word.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    /** Reads a number. */
    static double number(String word, String error) {
        if (word.length() < 16 && isDigits(word)) {
            return Long.parseLong(word);
        }
        if (FLOAT.matcher(word).matches() && !Double.isInfinite(Double.parseDouble(word))) {
            return Double.parseDouble(word);
        }
        if (INFINITE.matcher(word).matches()) {
            return word.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
        }
        throw new CommandError(error);
    }

    /** Writes a score, or a number that a script gives as an argument: as C's {@code %.17g} does. */
    static String text(double number) {
        if (number == (long) number && Math.abs(number) < LONG && !isNegativeZero(number)) {
            return Long.toString((long) number);
        }
        if (Double.isNaN(number)) {
            return "nan";
        }
        if (Double.isInfinite(number)) {
            return number > 0 ? "inf" : "-inf";
        }
        if (number == 0) {
            return "-0";
        }
        BigDecimal rounded = new BigDecimal(number).round(DIGITS).stripTrailingZeros();
        int exponent = rounded.precision() - rounded.scale() - 1;
        if (exponent >= -4 && exponent < DIGITS.getPrecision()) {
            return rounded.toPlainString();
        }
        String digits = rounded.unscaledValue().abs().toString();
        String fraction = digits.length() == 1 ? "" : "." + digits.substring(1);
        return (number < 0 ? "-" : "")
                + digits.charAt(0)
                + fraction
                + String.format(Locale.ROOT, "e%s%02d", exponent < 0 ? "-" : "+", Math.abs(exponent));
    }

    private static boolean isNegativeZero(double number) {
        return Double.doubleToRawLongBits(number) == Double.doubleToRawLongBits(-0.0);
    }
}
