package dev.interlock.internal;

import com.google.common.base.Ascii;

/** How names that anybody may have chosen are shown to people, in messages and logs. */
public final class Names {
    /** So much of a name is shown. */
    private static final int EXCERPT = 100;

    private Names() {}

    /**
     * Returns a name in quotation marks as people may read it in a line of a log, whatever it contains and however long
     * it is.
     */
    public static String quoted(String name) {
        return "'" + excerpt(name) + "'";
    }

    /** The same without the marks, also of other text that anybody may have written. */
    public static String excerpt(String text) {
        return text.length() <= EXCERPT
                ? escaped(text)
                : escaped(Ascii.truncate(text, EXCERPT, "…")) + " (" + text.length() + " characters)";
    }

    /** Returns text without what could act on a terminal, end a line, turn it around, or not be seen. */
    public static String escaped(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            switch (Character.getType(c)) {
                case Character.CONTROL,
                        Character.FORMAT,
                        Character.LINE_SEPARATOR,
                        Character.PARAGRAPH_SEPARATOR,
                        Character.SURROGATE ->
                    escaped.append(String.format(Character.isBmpCodePoint(c) ? "\\u%04x" : "\\u{%x}", c));
                default -> escaped.appendCodePoint(c);
            }
        });
        return escaped.toString();
    }
}
