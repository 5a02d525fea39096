package dev.interlock.benchmarks.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What lock schemes cost, put into the page that compares them, between two lines that mark the place. */
final class Comparison {

    private static final String BEGIN = "<!-- measured: begin";
    private static final String END = "<!-- measured: end";

    private record Scheme(String title, String contestant) {}

    private record Column(String heading, String scenario, Figure figure) {}

    private static final List<Scheme> SCHEMES = List.of(
            new Scheme("`SELECT … FOR UPDATE` (PostgreSQL)", "Postgres-row"),
            new Scheme("advisory lock (PostgreSQL)", "Postgres-advisory"),
            new Scheme("ZooKeeper (Curator)", "Curator"),
            new Scheme("etcd", "etcd"),
            new Scheme("Hazelcast", "Hazelcast"),
            new Scheme("`SET NX PX`, compare and delete", "SETNX"),
            new Scheme("Spring's registry, polling", "Spring-spin"),
            new Scheme("Spring's registry, by message", "Spring-pubsub"),
            new Scheme("`RLock`", "RLock"),
            new Scheme("`RFairLock`", "RFairLock"),
            new Scheme("`RSpinLock`", "RSpinLock"),
            new Scheme("Interlock", "Interlock"));

    private static final List<Column> COLUMNS = List.of(
            new Column("free, µs", "uncontended-1t", Figure.P50),
            new Column("from JVM to JVM, µs", "handoff-2jvm", Figure.P50),
            new Column("8 threads of one JVM, /s", "throughput-1jvm-8t", Figure.RATE),
            new Column("4 JVMs, 2 threads each, /s", "throughput-4jvm-2t", Figure.RATE),
            new Column("8 threads, sections of 5 ms, /s", "section-5ms-1jvm-8t", Figure.RATE));

    private Comparison() {}

    /** Writes it into the page of a folder, if that is there. */
    static void write(Results results, Path docs) {
        Path page = docs.resolve("choosing.md");
        if (!Files.exists(page)) {
            return;
        }
        try {
            String text = Files.readString(page);
            int begin = text.indexOf('\n', text.indexOf(BEGIN)) + 1;
            int end = text.indexOf(END);
            if (!text.contains(BEGIN) || end < begin) {
                throw new IllegalStateException(page + " has no place for what was measured");
            }
            Files.writeString(page, text.substring(0, begin) + table(results) + text.substring(end));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String table(Results results) {
        Stream<String> head = Stream.of(
                Markdown.row(Stream.concat(Stream.of("scheme"), COLUMNS.stream().map(Column::heading))),
                Markdown.row(Stream.concat(Stream.of("---"), COLUMNS.stream().map(column -> "---"))));
        Stream<String> rows = SCHEMES.stream()
                .map(scheme -> Markdown.row(Stream.concat(
                        Stream.of(scheme.title()), COLUMNS.stream().map(column -> cell(results, scheme, column)))));
        return Markdown.wrapped("Medians, from the run of [benchmarks.md](benchmarks.md), which tells the spread and"
                        + " what was measured how; –: not measured.")
                + "\n\n"
                + Stream.concat(head, rows).collect(Collectors.joining())
                + "\n";
    }

    private static String cell(Results results, Scheme scheme, Column column) {
        Optional<Measurement> measured = results.of(column.scenario(), scheme.contestant());
        return measured.map(column.figure()::text).orElse("–");
    }
}
