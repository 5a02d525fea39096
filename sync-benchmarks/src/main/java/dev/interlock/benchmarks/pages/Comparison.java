package dev.interlock.benchmarks.pages;

import dev.interlock.benchmarks.report.Figure;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Results;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What lock schemes cost, for the page that compares them. */
final class Comparison {

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

    static String text(Results results) {
        var text = new Document();
        text.say("Medians, from the run of [benchmarks.md](benchmarks.md), which tells the spread and what was measured"
                + " how; –: not measured.");
        text.table(
                Stream.concat(Stream.of("scheme"), COLUMNS.stream().map(Column::heading))
                        .toList(),
                SCHEMES.stream().map(scheme -> row(results, scheme)).toList());
        return text.text();
    }

    private static List<String> row(Results results, Scheme scheme) {
        return Stream.concat(Stream.of(scheme.title()), COLUMNS.stream().map(column -> cell(results, scheme, column)))
                .toList();
    }

    private static String cell(Results results, Scheme scheme, Column column) {
        Optional<Measurement> measured = results.of(column.scenario(), scheme.contestant());
        return measured.map(column.figure()::text).orElse("–");
    }
}
