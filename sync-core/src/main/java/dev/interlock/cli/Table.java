package dev.interlock.cli;

import com.google.common.base.Strings;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Columns for people, as wide as what is in them. */
final class Table {
    private static final String GAP = "  ";

    private final List<List<String>> rows = new ArrayList<>();

    Table(String... header) {
        rows.add(List.of(header));
    }

    void row(String... cells) {
        rows.add(List.of(cells));
    }

    @Override
    public String toString() {
        int[] widths = IntStream.range(0, rows.get(0).size())
                .map(column -> rows.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElse(0))
                .toArray();
        return rows.stream()
                .map(row -> IntStream.range(0, widths.length)
                        .mapToObj(column -> Strings.padEnd(row.get(column), widths[column], ' '))
                        .collect(Collectors.joining(GAP))
                        .stripTrailing())
                .collect(Collectors.joining(System.lineSeparator()));
    }
}
