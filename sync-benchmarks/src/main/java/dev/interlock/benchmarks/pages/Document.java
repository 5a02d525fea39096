package dev.interlock.benchmarks.pages;

import java.util.List;

/** A page that grows by paragraphs and tables. */
final class Document {

    private final StringBuilder text = new StringBuilder();

    void say(String paragraph) {
        text.append(Markdown.wrapped(paragraph)).append("\n\n");
    }

    void table(List<String> headings, List<List<String>> rows) {
        text.append(Markdown.row(headings.stream()))
                .append(Markdown.row(headings.stream().map(heading -> "---")));
        rows.forEach(row -> text.append(Markdown.row(row.stream())));
        text.append('\n');
    }

    /** All of it, which ends with one line break. */
    String text() {
        return text.toString().stripTrailing() + "\n";
    }
}
