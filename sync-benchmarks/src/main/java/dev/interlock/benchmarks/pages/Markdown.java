package dev.interlock.benchmarks.pages;

import com.google.common.base.Splitter;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Text as the pages hold it. */
final class Markdown {

    private static final int MOST_COLUMNS = 120;
    private static final Splitter BLANKS = Splitter.on(' ');

    /** Words that would begin a list, a heading or a quotation if they began a line. */
    private static final Pattern MARKER = Pattern.compile("[-+*>]|#+|\\d+[.)]");

    private Markdown() {}

    /** A line of a table. */
    static String row(Stream<String> cells) {
        return cells.map(cell -> cell.replace("|", "\\|")).collect(Collectors.joining(" | ", "| ", " |\n"));
    }

    /** The same text in lines of 120 columns at most, but for what can't be wrapped: tables, and longer words. */
    static String wrapped(String text) {
        return text.lines().map(Markdown::wrappedLine).collect(Collectors.joining("\n"));
    }

    private static String wrappedLine(String line) {
        if (line.length() <= MOST_COLUMNS || line.startsWith("|")) {
            return line;
        }
        String indent = line.startsWith("- ") ? "  " : "";
        var wrapped = new StringBuilder();
        int columns = 0;
        for (String word : BLANKS.split(line)) {
            if (columns > 0
                    && columns + 1 + word.length() > MOST_COLUMNS
                    && !MARKER.matcher(word).matches()) {
                wrapped.append('\n').append(indent);
                columns = indent.length();
            } else if (columns > 0) {
                wrapped.append(' ');
                columns++;
            }
            wrapped.append(word);
            columns += word.length();
        }
        return wrapped.toString();
    }
}
